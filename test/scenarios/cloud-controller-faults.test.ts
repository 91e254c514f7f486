/** A few of the schedules that `npm run test:faults` plays two thousand of. */
import { test } from "vitest";
import { expectAllRight } from "../faults/cloud-controller/survey.ts";

test("schedules of faults leave one load balancer for each Service, and no orphan", { timeout: 240_000 }, () =>
  expectAllRight(12, 7),
);
