/**
 * 2,000 schedules of what can go wrong between a Service and its load balancer; after each, exactly what is wanted, and
 * after its end nothing.
 */
import { test } from "vitest";
import { expectAllRight } from "./cloud-controller/survey.ts";

const SCHEDULES = Number(process.env["CAUSEWAY_FAULT_SCHEDULES"] ?? 2000);
const SEED = Number(process.env["CAUSEWAY_FAULT_SEED"] ?? 1);
/** Milliseconds; a schedule takes a second of a free machine. */
const TIMEOUT = 120_000 + SCHEDULES * 6_000;

test(
  `${SCHEDULES} schedules of faults leave one load balancer for each Service, and no orphan`,
  { timeout: TIMEOUT },
  () => expectAllRight(SCHEDULES, SEED),
);
