#pragma once

#include <mpi.h>

namespace weft::loader {

template <class Visitor>
void visit_sessions(Visitor& visitor) {
  visitor.template visit<&MPI_Abort>("MPI_Abort");
  visitor.template visit<&MPI_Comm_create_keyval>("MPI_Comm_create_keyval");
  visitor.template visit<&MPI_Comm_dup>("MPI_Comm_dup");
  visitor.template visit<&MPI_Comm_free>("MPI_Comm_free");
  visitor.template visit<&MPI_Comm_get_attr>("MPI_Comm_get_attr");
  visitor.template visit<&MPI_Comm_group>("MPI_Comm_group");
  visitor.template visit<&MPI_Comm_idup>("MPI_Comm_idup");
  visitor.template visit<&MPI_Comm_rank>("MPI_Comm_rank");
  visitor.template visit<&MPI_Comm_set_attr>("MPI_Comm_set_attr");
  visitor.template visit<&MPI_Comm_set_errhandler>("MPI_Comm_set_errhandler");
  visitor.template visit<&MPI_Comm_size>("MPI_Comm_size");
  visitor.template visit<&MPI_Comm_split_type>("MPI_Comm_split_type");
  visitor.template visit<&MPI_Error_string>("MPI_Error_string");
  visitor.template visit<&MPI_Finalize>("MPI_Finalize");
  visitor.template visit<&MPI_Finalized>("MPI_Finalized");
  visitor.template visit<&MPI_Get_library_version>("MPI_Get_library_version");
  visitor.template visit<&MPI_Group_free>("MPI_Group_free");
  visitor.template visit<&MPI_Group_translate_ranks>("MPI_Group_translate_ranks");
  visitor.template visit<&MPI_Info_create>("MPI_Info_create");
  visitor.template visit<&MPI_Info_free>("MPI_Info_free");
  visitor.template visit<&MPI_Info_set>("MPI_Info_set");
  visitor.template visit<&MPI_Init_thread>("MPI_Init_thread");
  visitor.template visit<&MPI_Initialized>("MPI_Initialized");
  visitor.template visit<&MPI_Query_thread>("MPI_Query_thread");
  visitor.template visit<&MPI_Wtime>("MPI_Wtime");
  visitor.template visit<&PMPI_Get_library_version>("PMPI_Get_library_version");
}

template <class Visitor>
void visit_types_and_windows(Visitor& visitor) {
  visitor.template visit<&MPI_Type_commit>("MPI_Type_commit");
  visitor.template visit<&MPI_Type_contiguous>("MPI_Type_contiguous");
  visitor.template visit<&MPI_Type_create_struct>("MPI_Type_create_struct");
  visitor.template visit<&MPI_Type_free>("MPI_Type_free");
  visitor.template visit<&MPI_Win_allocate>("MPI_Win_allocate");
  visitor.template visit<&MPI_Win_allocate_shared>("MPI_Win_allocate_shared");
  visitor.template visit<&MPI_Win_flush>("MPI_Win_flush");
  visitor.template visit<&MPI_Win_flush_local>("MPI_Win_flush_local");
  visitor.template visit<&MPI_Win_flush_local_all>("MPI_Win_flush_local_all");
  visitor.template visit<&MPI_Win_free>("MPI_Win_free");
  visitor.template visit<&MPI_Win_get_attr>("MPI_Win_get_attr");
  visitor.template visit<&MPI_Win_lock_all>("MPI_Win_lock_all");
  visitor.template visit<&MPI_Win_shared_query>("MPI_Win_shared_query");
  visitor.template visit<&MPI_Win_sync>("MPI_Win_sync");
  visitor.template visit<&MPI_Win_unlock_all>("MPI_Win_unlock_all");
}

template <class Visitor>
void visit_collectives(Visitor& visitor) {
  visitor.template visit<&MPI_Allgather>("MPI_Allgather");
  visitor.template visit<&MPI_Bcast>("MPI_Bcast");
  visitor.template visit<&MPI_Exscan>("MPI_Exscan");
  visitor.template visit<&MPI_Iallgather>("MPI_Iallgather");
  visitor.template visit<&MPI_Iallgatherv>("MPI_Iallgatherv");
  visitor.template visit<&MPI_Iallreduce>("MPI_Iallreduce");
  visitor.template visit<&MPI_Ibarrier>("MPI_Ibarrier");
  visitor.template visit<&MPI_Ibcast>("MPI_Ibcast");
  visitor.template visit<&MPI_Iexscan>("MPI_Iexscan");
  visitor.template visit<&MPI_Igather>("MPI_Igather");
  visitor.template visit<&MPI_Igatherv>("MPI_Igatherv");
}

template <class Visitor>
void visit_messages(Visitor& visitor) {
  visitor.template visit<&MPI_Accumulate>("MPI_Accumulate");
  visitor.template visit<&MPI_Allreduce>("MPI_Allreduce");
  visitor.template visit<&MPI_Get_elements_x>("MPI_Get_elements_x");
  visitor.template visit<&MPI_Improbe>("MPI_Improbe");
  visitor.template visit<&MPI_Iprobe>("MPI_Iprobe");
  visitor.template visit<&MPI_Irecv>("MPI_Irecv");
  visitor.template visit<&MPI_Isend>("MPI_Isend");
  visitor.template visit<&MPI_Issend>("MPI_Issend");
  visitor.template visit<&MPI_Mrecv>("MPI_Mrecv");
  visitor.template visit<&MPI_Put>("MPI_Put");
  visitor.template visit<&MPI_Recv>("MPI_Recv");
  visitor.template visit<&MPI_Recv_init>("MPI_Recv_init");
  visitor.template visit<&MPI_Request_free>("MPI_Request_free");
  visitor.template visit<&MPI_Rput>("MPI_Rput");
  visitor.template visit<&MPI_Send>("MPI_Send");
  visitor.template visit<&MPI_Send_init>("MPI_Send_init");
  visitor.template visit<&MPI_Ssend_init>("MPI_Ssend_init");
  visitor.template visit<&MPI_Start>("MPI_Start");
  visitor.template visit<&MPI_Startall>("MPI_Startall");
  visitor.template visit<&MPI_Test>("MPI_Test");
  visitor.template visit<&MPI_Testall>("MPI_Testall");
  visitor.template visit<&MPI_Testsome>("MPI_Testsome");
  visitor.template visit<&MPI_Waitall>("MPI_Waitall");
}

/// Calls `visitor.visit<&MPI_Send>("MPI_Send")` for every function that weft calls.
template <class Visitor>
void visit_all_calls(Visitor& visitor) {
  visit_sessions(visitor);
  visit_types_and_windows(visitor);
  visit_collectives(visitor);
  visit_messages(visitor);
}

}  // namespace weft::loader
