import type { Filter } from "./interface.ts";

/** A pod whose rules are more than the scheduler reads runs nowhere: it cannot be said where it may run. */
export const schedulingRules: Filter = {
  name: "SchedulingRules",
  wokenBy: [],
  prepare: ({ tooManyRules }) => (tooManyRules === undefined ? undefined : { rejected: tooManyRules }),
};
