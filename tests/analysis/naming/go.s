# Two functions that only the table of a Go program names.
.option norelax
.text
.globl _start
_start:
    jal one
    jal two
    li a0, 0
    li a7, 93
    ecall
one:
    addi a0, a0, 1
    ret
two:
    addi a0, a0, 1
    addi a0, a0, 2
    ret
end:

.section .gopclntab, "a"
table:
    .word 0xfffffff1
    .byte 0, 0, 2, 8
    .quad 2, 0, _start, names - table, 0, 0, 0, functions - table
names:
    .asciz "main.one"
name_two:
    .asciz "main.(*T).two"
    .balign 8
functions:
    .word one - _start, record_one - functions
    .word two - _start, record_two - functions
    .word end - _start
record_one:
    .word one - _start, 0
record_two:
    .word two - _start, name_two - names
