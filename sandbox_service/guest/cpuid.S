/* Answers CPUID from a table. languages/libc_start.py puts this code, and the table behind it, into the start of glibc.
 *
 * A virtual machine leaves the processor for each CPUID, and the start of a static program executes dozens of them. The
 * table ends with the leaf -1. An entry has seven numbers of four bytes: the leaf in EAX, the subleaf in ECX, the bits of
 * the subleaf that matter, and the four registers. CPUID itself answers for other leaves. All other registers are kept.
 */
#define ENTRY_BYTES 28

#ifdef __x86_64__
    push %rsi
    lea table(%rip), %rsi
next:
    mov (%rsi), %ebx
    cmp $-1, %ebx
    je unknown
    cmp %eax, %ebx
    jne other
    mov 4(%rsi), %ebx
    xor %ecx, %ebx
    and 8(%rsi), %ebx
    je known
other:
    add $ENTRY_BYTES, %rsi
    jmp next
known:
    mov 12(%rsi), %eax
    mov 16(%rsi), %ebx
    mov 20(%rsi), %ecx
    mov 24(%rsi), %edx
    pop %rsi
    ret
unknown:
    pop %rsi
    cpuid
    ret
    .balign 4
table:
#endif
    .section .note.GNU-stack, "", @progbits
