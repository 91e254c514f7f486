/** For tests of every package. */
export { IdleClock } from "./idle-clock.ts";
export { seeded, seededIds, seededIntegers } from "./seeded.ts";
