import type { Column } from "../../contract/resource.ts";
import { selectorText } from "../../contract/selectors.ts";
import { at, records, text, type Json } from "../../json/json.ts";
import { count, labelsText, named, number } from "../../tables/cells.ts";
import { AGE, NAME } from "../../tables/table.ts";

const TEMPLATE: readonly Column[] = [
  { name: "Containers", priority: 1, cell: (o) => containers(o, "name") },
  { name: "Images", priority: 1, cell: (o) => containers(o, "image") },
  { name: "Selector", priority: 1, cell: (o) => selectorText(at(o, "spec", "selector")) || "<none>" },
];

function containers(workload: Json, name: string): string {
  return named(at(workload, "spec", "template", "spec", "containers"), name);
}

/** As `kubectl get deploy` prints them. */
export const DEPLOYMENT_COLUMNS: readonly Column[] = [
  NAME,
  { name: "Ready", cell: (o) => `${count(at(o, "status", "readyReplicas"))}/${count(at(o, "spec", "replicas"))}` },
  { ...number("Up-to-date", "status.updatedReplicas"), type: "string" },
  { ...number("Available", "status.availableReplicas"), type: "string" },
  AGE,
  ...TEMPLATE,
];

/** As `kubectl get rs` prints them. */
export const REPLICA_SET_COLUMNS: readonly Column[] = [
  NAME,
  number("Desired", "spec.replicas"),
  number("Current", "status.replicas"),
  number("Ready", "status.readyReplicas"),
  AGE,
  ...TEMPLATE,
];

/** As `kubectl get sts` prints them; the selector is left out even with -o wide. */
export const STATEFUL_SET_COLUMNS: readonly Column[] = [
  NAME,
  { name: "Ready", cell: (o) => `${count(at(o, "status", "readyReplicas"))}/${count(at(o, "spec", "replicas"))}` },
  AGE,
  ...TEMPLATE.slice(0, 2),
];

/** As `kubectl get ds` prints them. */
export const DAEMON_SET_COLUMNS: readonly Column[] = [
  NAME,
  number("Desired", "status.desiredNumberScheduled"),
  number("Current", "status.currentNumberScheduled"),
  number("Ready", "status.numberReady"),
  number("Up-to-date", "status.updatedNumberScheduled"),
  number("Available", "status.numberAvailable"),
  {
    name: "Node Selector",
    cell: (o) => labelsText(at(o, "spec", "template", "spec", "nodeSelector")),
  },
  AGE,
  ...TEMPLATE,
];

/** As `kubectl get controllerrevisions` prints them; a controller is "statefulset.apps/web". */
export const CONTROLLER_REVISION_COLUMNS: readonly Column[] = [
  NAME,
  {
    name: "Controller",
    cell: (o) => {
      const owner = records(at(o, "metadata", "ownerReferences")).find((r) => r["controller"] === true);
      if (!owner) return "<none>";
      const group = text(owner["apiVersion"]).split("/").slice(0, -1).join("/");
      return `${[text(owner["kind"]), group].filter(Boolean).join(".").toLowerCase()}/${text(owner["name"])}`;
    },
  },
  { name: "Revision", cell: (o) => count(o["revision"]) },
  AGE,
];
