import { invalidValue, notSupported } from "../../errors/problems.ts";
import { counted, needed, oneOf, whereGiven, type FieldRule } from "../shared/rules.ts";
import { scheduleFault, zoneFault } from "./schedule.ts";

const SCHEDULE = needed();

/** Rules of CronJobs by field. */
export const CRON_RULES: readonly FieldRule[] = [
  ["spec.schedule", SCHEDULE],
  ["spec.schedule", whereGiven(schedule)],
  ["spec.timeZone", zone],
  ["spec.startingDeadlineSeconds", counted],
  ["spec.concurrencyPolicy", oneOf("Allow", "Forbid", "Replace")],
  ["spec.successfulJobsHistoryLimit", counted],
  ["spec.failedJobsHistoryLimit", counted],
  ["spec.jobTemplate.spec.manualSelector", noSelector],
];

function schedule(value: unknown, field: string): ReturnType<FieldRule[1]> {
  const text = String(value as string);
  const zoned = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead";
  const fault = text.includes("TZ") ? zoned : scheduleFault(text);
  return fault === undefined ? [] : [invalidValue(field, value, fault)];
}

function zone(value: unknown, field: string): ReturnType<FieldRule[1]> {
  const fault = typeof value === "string" ? zoneFault(value) : undefined;
  return fault === undefined ? [] : [invalidValue(field, value, fault)];
}

function noSelector(value: unknown, field: string): ReturnType<FieldRule[1]> {
  return value === true ? [notSupported(field, true, ["nil", "false"])] : [];
}
