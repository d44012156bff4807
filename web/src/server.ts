// The page of `ntrace open`.
import {start} from "./main";
import {ServerTransport} from "./transport";

void start(new ServerTransport());
