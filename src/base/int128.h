/* Integers of 128 bits: products of 64-bit words, and sums of squares that must not overflow. */
#ifndef TACIT_BASE_INT128_H
#define TACIT_BASE_INT128_H

__extension__ typedef unsigned __int128 tacit__u128;

#endif
