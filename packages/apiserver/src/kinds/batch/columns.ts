import { at, records, scalar, text, type Json } from "../../json/json.ts";
import type { Column } from "../../contract/resource.ts";
import { selectorText } from "../../contract/selectors.ts";
import { age, duration } from "../../tables/age.ts";
import { field } from "../../tables/cells.ts";
import { named } from "../../tables/cells.ts";
import { AGE, NAME } from "../../tables/table.ts";

/** Conditions that are the job's state, in order of weight; a job that is being deleted has its place between them. */
const ENDED = ["Complete", "Failed"];
const UNDERWAY = ["Suspended", "FailureTarget", "SuccessCriteriaMet"];

function state(job: Json): string {
  const conditions = records(at(job, "status", "conditions")).filter((c) => c["status"] === "True");
  const holds = (type: string): boolean => conditions.some((c) => c["type"] === type);
  const ended = ENDED.find(holds);
  if (ended !== undefined) return ended;
  if (at(job, "metadata", "deletionTimestamp") !== undefined) return "Terminating";
  return UNDERWAY.find(holds) ?? "Running";
}

function completions(job: Json): string {
  const done = scalar(at(job, "status", "succeeded")) || "0";
  const wanted = at(job, "spec", "completions");
  if (wanted !== undefined) return `${done}/${scalar(wanted)}`;
  const parallel = at(job, "spec", "parallelism");
  return typeof parallel === "number" && parallel > 1 ? `${done}/1 of ${parallel}` : `${done}/1`;
}

function lasted(job: Json, now: number): string {
  const start = text(at(job, "status", "startTime"));
  if (start === "") return "";
  const end = text(at(job, "status", "completionTime"));
  return duration((end === "" ? now : Date.parse(end)) - Date.parse(start));
}

/** Containers, images and selector of a template that is at a path. */
function wide(path: readonly string[]): Column[] {
  const containers = [...path, "template", "spec", "containers"];
  return [
    { name: "Containers", priority: 1, cell: (o) => named(at(o, ...containers), "name") },
    { name: "Images", priority: 1, cell: (o) => named(at(o, ...containers), "image") },
    { name: "Selector", priority: 1, cell: (o) => selectorText(at(o, ...path, "selector")) || "<none>" },
  ];
}

/** As `kubectl get jobs` prints them. */
export const JOB_COLUMNS: readonly Column[] = [
  NAME,
  { name: "Status", cell: state },
  { name: "Completions", cell: completions },
  { name: "Duration", cell: lasted },
  AGE,
  ...wide(["spec"]),
];

/** As `kubectl get cj` prints them. */
export const CRON_JOB_COLUMNS: readonly Column[] = [
  NAME,
  field("Schedule", "spec.schedule"),
  { name: "Timezone", cell: (o) => at(o, "spec", "timeZone") ?? "<none>" },
  {
    name: "Suspend",
    type: "boolean",
    cell: (o) => {
      const suspend = at(o, "spec", "suspend");
      return suspend === undefined ? "<unset>" : suspend === true ? "True" : "False";
    },
  },
  { name: "Active", type: "integer", cell: (o) => records(at(o, "status", "active")).length },
  {
    name: "Last Schedule",
    cell: (o, now) => {
      const last = at(o, "status", "lastScheduleTime");
      return last === undefined ? "<none>" : age(last, now);
    },
  },
  AGE,
  ...wide(["spec", "jobTemplate", "spec"]),
];
