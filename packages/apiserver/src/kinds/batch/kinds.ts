import { define, STATUS } from "../../contract/define.ts";
import type { Resource } from "../../contract/resource.ts";
import { at, record } from "../../json/json.ts";
import { stored } from "../shared/immutable-fields.ts";
import { checked } from "../shared/rules.ts";
import { CRON_JOB_COLUMNS, JOB_COLUMNS } from "./columns.ts";
import { jobSpecProblems } from "./job-rules.ts";
import { jobStrategy } from "./job.ts";
import { CRON_RULES } from "./rules.ts";

/** Kinds of group batch. */
export function batchKinds(): Resource[] {
  return [
    define({
      group: "batch",
      categories: ["all"],
      generation: true,
      kind: "Job",
      plural: "jobs",
      subresources: [STATUS],
      selectable: ["status.successful"],
      columns: JOB_COLUMNS,
      strategy: jobStrategy,
    }),
    stored({
      group: "batch",
      kind: "CronJob",
      plural: "cronjobs",
      shortNames: ["cj"],
      categories: ["all"],
      subresources: [STATUS],
      generation: true,
      columns: CRON_JOB_COLUMNS,
      strategy: checked(CRON_RULES, ({ spec }) =>
        jobSpecProblems(record(at(spec, "jobTemplate", "spec")), "spec.jobTemplate.spec", false),
      ),
    }),
  ];
}
