/* Functions that save registers for others: -msave-restore calls them, by t0. As those of libgcc, which Debian has no RV32 of. */
	.text
	.globl __riscv_save_0,__riscv_save_1,__riscv_save_2,__riscv_save_3,__riscv_save_4,__riscv_save_5,__riscv_save_6,__riscv_save_7
	.globl __riscv_restore_0,__riscv_restore_1,__riscv_restore_2,__riscv_restore_3,__riscv_restore_4,__riscv_restore_5,__riscv_restore_6,__riscv_restore_7
	.type __riscv_save_4,@function
	.cfi_startproc
	.cfi_return_column t0
__riscv_save_7:
__riscv_save_6:
__riscv_save_5:
__riscv_save_4:
	addi sp,sp,-32
	.cfi_def_cfa_offset 32
	sw s6,0(sp)
	sw s5,4(sp)
	sw s4,8(sp)
	sw s3,12(sp)
	sw s2,16(sp)
	sw s1,20(sp)
	sw s0,24(sp)
	.cfi_offset 8,-8
	sw ra,28(sp)
	.cfi_offset 1,-4
	jr t0
	.cfi_endproc
	.size __riscv_save_4,.-__riscv_save_4
	.type __riscv_save_0,@function
	.cfi_startproc
	.cfi_return_column t0
__riscv_save_3:
__riscv_save_2:
__riscv_save_1:
__riscv_save_0:
	addi sp,sp,-16
	.cfi_def_cfa_offset 16
	sw s2,0(sp)
	sw s1,4(sp)
	sw s0,8(sp)
	.cfi_offset 8,-8
	sw ra,12(sp)
	.cfi_offset 1,-4
	jr t0
	.cfi_endproc
	.size __riscv_save_0,.-__riscv_save_0
	.type __riscv_restore_4,@function
	.cfi_startproc
	.cfi_def_cfa_offset 32
	.cfi_offset 8,-8
	.cfi_offset 1,-4
__riscv_restore_7:
__riscv_restore_6:
__riscv_restore_5:
__riscv_restore_4:
	lw s6,0(sp)
	lw s5,4(sp)
	lw s4,8(sp)
	lw s3,12(sp)
	lw s2,16(sp)
	lw s1,20(sp)
	lw s0,24(sp)
	.cfi_restore 8
	lw ra,28(sp)
	.cfi_restore 1
	addi sp,sp,32
	.cfi_def_cfa_offset 0
	ret
	.cfi_endproc
	.size __riscv_restore_4,.-__riscv_restore_4
	.type __riscv_restore_0,@function
	.cfi_startproc
	.cfi_def_cfa_offset 16
	.cfi_offset 8,-8
	.cfi_offset 1,-4
__riscv_restore_3:
__riscv_restore_2:
__riscv_restore_1:
__riscv_restore_0:
	lw s2,0(sp)
	lw s1,4(sp)
	lw s0,8(sp)
	.cfi_restore 8
	lw ra,12(sp)
	.cfi_restore 1
	addi sp,sp,16
	.cfi_def_cfa_offset 0
	ret
	.cfi_endproc
	.size __riscv_restore_0,.-__riscv_restore_0
