/* Decisions that are left and entered in unusual ways: longjmp, signals, recursion, goto, statement expressions. For
 * tests/analysis/mcdc.py; argv[1] is the number of rounds. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <signal.h>
static jmp_buf j; static volatile int hits;
static int thrower(int x){ if (x > 2) longjmp(j, 1); return x; }
static int rec(int n){ return n > 0 && rec(n-1) && n < 5; }
static void on(int s){ (void)s; if (hits > 0 && hits < 3) hits++; }
static int stmt(int a,int b){ return ({ int t = a && b; t; }) || b > 3; }
static int gotos(int a,int b){ again: if (a > 0 && b > 0) { a--; if (a && b) goto again; } return a; }
static int comma(int a,int b){ if ((a++, a > 1) && (b--, b > 0)) return a; return b; }
static int ptr(int *p){ if (p && *p && p[1]) return 1; return 0; }
static int dbl(double x,double y){ if (x < 1.5 && y > x) return 1; return 0; }
static int cast(long a, char c){ if ((char)a && (unsigned char)c > 3 && (long long)a < 100) return 1; return 0; }
static int elif(int a,int b){ if (a && b) return 1; else if (a || b) return 2; else if (!a && !b) return 3; return 4; }
static int multi(int a,
   int b) { if (a
      && b
      || a > 4)
   return 1; return 0; }
int main(int argc,char**argv){
  int n = atoi(argv[1]); volatile int r=0;
  signal(SIGUSR1, on);
  for (int i=0;i<n;i++) {
    if (!setjmp(j)) { if (i && thrower(i) && hits >= 0) r++; }
    r += rec(i); hits = i % 4; raise(SIGUSR1);
    r += stmt(i&1,i&2) + gotos(i,i-1) + comma(i,3-i) + dbl(i,2.0) + cast(i,(char)i) + elif(i&1,i&2) + multi(i,i&1);
    int v[2]={i&1,i&2}; r += ptr(v) + ptr(0);
  }
  printf("%d\n", r); return 0; }
