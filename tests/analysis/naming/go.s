# Two functions that only the table of a Go program names. It has their lines, too.
.option norelax
.option norvc
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
    .quad 2, 0, _start, names - table, units - table, files - table, values - table, functions - table
names:
    .asciz "main.one"
name_two:
    .asciz "main.(*T).two"
    .balign 4
units:
    .word 0, file_two - files
files:
    .asciz "main/one.go"
file_two:
    .asciz "main/two.go"
values: # a change of the value, doubled (less 1 if negative: 2n - 1), and units of 2 bytes; from -1 on
    .byte 0
file_of_one:
    .byte 2, 4, 0
file_of_both:
    .byte 2, 6, 0
lines_of_one:
    .byte 16, 2, 4, 2, 0 # 7, 9
lines_of_two:
    .byte 218, 4, 2, 195, 4, 4, 0 # 300, 10
    .balign 8
functions:
    .word one - _start, record_one - functions
    .word two - _start, record_two - functions
    .word end - _start
record_one:
    .word one - _start, 0, 0, 0, 0, file_of_one - values, lines_of_one - values, 0, 0
record_two:
    .word two - _start, name_two - names, 0, 0, 0, file_of_both - values, lines_of_two - values, 0, 1
