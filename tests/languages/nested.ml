(* Effects that pass a handler, exceptions that end a fiber, and fibers that are continued with an exception. *)
open Effect
open Effect.Deep
type _ Effect.t += Ask : int -> int Effect.t | Tell : int -> unit Effect.t
exception Over of int

let[@inline never] leaf n = n land 15
let[@inline never] ask n = 1 + perform (Ask n)
let[@inline never] tell n = perform (Tell n); ignore (Sys.opaque_identity n)

(* Its effects are handled two fibers below. *)
let[@inline never] inner n =
  tell n;
  let got = ask n in
  tell got;
  leaf got

let[@inline never] failing n =
  try ignore (ask n); raise (Over n) with Over m -> leaf m

let[@inline never] ends n =
  ignore (ask n);
  raise (Over (leaf n))

let[@inline never] answers f n =
  match_with f n {
    retc = (fun x -> leaf x);
    exnc = (function Over m -> leaf (m + 1) | e -> raise e);
    effc = (fun (type a) (e : a Effect.t) ->
      match e with
      | Ask n -> Some (fun (k : (a, _) continuation) -> let r = continue k (n + 1) in leaf r)
      | _ -> None) }

let[@inline never] hears f n =
  match_with f n {
    retc = (fun x -> leaf x);
    exnc = raise;
    effc = (fun (type a) (e : a Effect.t) ->
      match e with
      | Tell n -> Some (fun (k : (a, _) continuation) -> ignore (leaf n); continue k ())
      | _ -> None) }

let[@inline never] gives_up f n =
  match_with f n {
    retc = (fun x -> leaf x);
    exnc = (function Over m -> leaf m | e -> raise e);
    effc = (fun (type a) (e : a Effect.t) ->
      match e with
      | Ask n -> Some (fun (k : (a, _) continuation) -> discontinue k (Over n))
      | _ -> None) }

let[@inline never] cleans n =
  try ask n with Over m -> ignore (leaf m); raise (Over m)

let[@inline never] both n = answers inner n + 1
let[@inline never] catches n = try ask n with Unhandled (Ask m) -> leaf m

let () =
  let sum = ref 0 in
  for i = 1 to 10 do
    sum := !sum + hears both i;
    sum := !sum + answers failing i;
    sum := !sum + answers ends i;
    sum := !sum + gives_up cleans i;
    sum := !sum + hears catches i
  done;
  print_int !sum
