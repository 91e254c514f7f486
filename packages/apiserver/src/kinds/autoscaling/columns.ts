import { at, record, records, scalar, text, type Json } from "../../json/json.ts";
import type { Column } from "../../contract/resource.ts";
import { AGE, NAME } from "../../tables/table.ts";

const UNKNOWN = "<unknown>";

/** [field of the spec and of the status, whether the metric's name is shown] */
const SOURCES: Readonly<Record<string, readonly [name: string, isShown: boolean]>> = {
  External: ["external", false],
  Pods: ["pods", false],
  Object: ["object", false],
  Resource: ["resource", true],
  ContainerResource: ["containerResource", true],
};

function metric(spec: Json, status: Json | undefined): string {
  const source = SOURCES[text(spec["type"])];
  if (!source) return "<unknown type>";
  const [name, isTold] = source;
  const about = record(spec[name]);
  const target = record(about["target"]);
  const current = record(record(status?.[name])["current"]);
  const head = isTold ? `${text(about["name"])}: ` : "";
  if (target["averageValue"] !== undefined) {
    const average = name === "external" || name === "object" ? " (avg)" : "";
    return `${head}${scalar(current["averageValue"]) || UNKNOWN}/${scalar(target["averageValue"])}${average}`;
  }
  if (!isTold) return `${scalar(current["value"]) || UNKNOWN}/${scalar(target["value"])}`;
  const percent = (value: unknown, otherwise: string): string =>
    value === undefined ? otherwise : `${scalar(value)}%`;
  const now = percent(current["averageUtilization"], UNKNOWN);
  return `${head}${now}/${percent(target["averageUtilization"], "<auto>")}`;
}

function metrics(autoscaler: Json): string {
  const specs = records(at(autoscaler, "spec", "metrics"));
  if (specs.length === 0) return "<none>";
  const statuses = records(at(autoscaler, "status", "currentMetrics"));
  const shown = specs.map((spec, i) => metric(spec, statuses[i]));
  const more = shown.length > 2 ? ` + ${shown.length - 2} more...` : "";
  return `${shown.slice(0, 2).join(", ")}${more}`;
}

/** Of autoscaling/v2; `seen` gives that form of what a row is made of. */
export function autoscalerColumns(seen: (object: Json) => Json): readonly Column[] {
  return [
    NAME,
    {
      name: "Reference",
      cell: (o) => `${text(at(o, "spec", "scaleTargetRef", "kind"))}/${text(at(o, "spec", "scaleTargetRef", "name"))}`,
    },
    { name: "Targets", cell: (o) => metrics(seen(o)) },
    { name: "MinPods", cell: (o) => scalar(at(o, "spec", "minReplicas")) || "<unset>" },
    { name: "MaxPods", cell: (o) => at(o, "spec", "maxReplicas") ?? 0 },
    { name: "Replicas", cell: (o) => at(o, "status", "currentReplicas") ?? 0 },
    AGE,
  ];
}
