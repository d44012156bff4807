"""Every message of N-Trace 1.0, with conditional fields, and what a stream may hold besides."""

MESSAGES = """\
ProgTraceSync SYNC=3 ICNT=0 FADDR=0x80
DirectBranch ICNT=3
IndirectBranch BTYPE=2 ICNT=1 UADDR=0x480
IndirectBranchHist BTYPE=0 ICNT=125 UADDR=0x7 HIST=0xffe
Ownership PROCESS=0x3b2
Error ETYPE=0 ECODE=0x4
DirectBranchSync SYNC=2 ICNT=3 FADDR=0x100
IndirectBranchSync SYNC=2 BTYPE=0 ICNT=5 FADDR=0x100
IndirectBranchHistSync SYNC=6 BTYPE=0 ICNT=3 FADDR=0x83 HIST=0x2
ResourceFull RCODE=0 RDATA0=0x9
ResourceFull RCODE=2 RDATA0=0x5 RDATA1=150
RepeatBranch BCNT=1000
ProgTraceCorrelation EVCODE=0 CDF=1 ICNT=4 HIST=0x3
ProgTraceCorrelation EVCODE=4 CDF=0 ICNT=0
DirectBranch ICNT=3 TSTAMP=7
ProgTraceSync SYNC=3 ICNT=0 FADDR=0x80 TSTAMP=74565
DirectBranch ICNT=3:18
Vendor56 DATA=0x1f:6,0x0:6
Reserved1 DATA=0x3:6
"""
