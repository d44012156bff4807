! Calls of known numbers: the lines with "count" have theirs.
module shapes
  implicit none
  type, abstract :: shape
  contains
    procedure(area_of), deferred :: area
  end type
  abstract interface
    integer function area_of(self, n)
      import :: shape
      class(shape), intent(in) :: self
      integer, intent(in) :: n
    end function
  end interface
  type, extends(shape) :: round
  contains
    procedure :: area => round_area
  end type
  type, extends(shape) :: square
  contains
    procedure :: area => square_area
  end type
contains
  integer function round_area(self, n)
    class(round), intent(in) :: self
    integer, intent(in) :: n
    round_area = n * n * 3 ! count 10
  end function
  integer function square_area(self, n)
    class(square), intent(in) :: self
    integer, intent(in) :: n
    square_area = n * n ! count 10
  end function
  recursive integer function fibonacci(n) result(value)
    integer, intent(in) :: n
    if (n < 2) then ! count 465
      value = n ! count 233
    else
      value = fibonacci(n - 1) + fibonacci(n - 2) ! count 232
    end if
  end function
end module

program work
  use shapes
  implicit none
  type(round), target :: one
  type(square), target :: other
  class(shape), pointer :: either
  integer :: i, total
  total = fibonacci(12)
  do i = 1, 20
    if (mod(i, 2) == 0) then
      either => one
    else
      either => other
    end if
    total = total + either%area(i)
  end do
  do i = 1, 50
    total = total + twice(i)
  end do
  print *, total
contains
  integer function twice(n)
    integer, intent(in) :: n
    twice = n * 2 + i * 0 ! count 50
  end function
end program
