"""A program of MPI alone, which shows whether MPI runs here."""

from mpi4py import MPI

MPI.COMM_WORLD.Barrier()
MPI.Finalize()
