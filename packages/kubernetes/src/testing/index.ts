/** For tests of every package. */
export { Leases } from "./leases.ts";
