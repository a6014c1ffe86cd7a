/* faults.h - makes the Nth allocation, read or write of the code under test fail, and
 * counts its allocations. Works by the linker's --wrap (the Makefile's list of wrapped
 * functions is the one in faults.c): only objects linked statically are affected. */
#ifndef ATTN2C_TEST_FAULTS_H
#define ATTN2C_TEST_FAULTS_H

typedef enum fault_kind {
  FAULT_NONE,
  FAULT_ERROR,       /* EIO of a read, ENOSPC of a write; of an allocation: NULL */
  FAULT_INTERRUPTED, /* EINTR */
  FAULT_SHORT,       /* one byte only */
  FAULT_END          /* a read: 0, as at the end of the file */
} fault_kind;

/* Takes every fault away and starts counting anew. */
void faults_clear(void);

/* The nth call from now on (1 is the next): that one fails, or, persistent, that one and all that follow. */
void faults_allocation(long nth, int persistent);
void faults_read(long nth, fault_kind kind, int persistent);
void faults_write(long nth, fault_kind kind, int persistent);
/* The next call fails with EIO. */
void faults_fsync(void);
void faults_close(void);
void faults_rename(void);
/* The next mapping fails with this errno. */
void faults_map(int error);

/* Since faults_clear: how often a fault was met, allocations made, blocks not yet freed, the largest block
 * asked for. */
long faults_met(void);
long faults_allocations(void);
long faults_live_blocks(void);
/* Mappings made since faults_clear and not taken away. */
long faults_live_maps(void);
unsigned long faults_largest_block(void);

/* Clocks show this number of nanoseconds; 0: the real time. */
extern long long faults_time;

#endif
