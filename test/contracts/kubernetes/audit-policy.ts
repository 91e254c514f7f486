import { readFileSync } from "node:fs";
import type { Json } from "./interface.ts";

/** What both servers record: requests of the group "audited", and those below /audited of any user. */
export const AUDIT_POLICY: Json = {
  apiVersion: "audit.k8s.io/v1",
  kind: "Policy",
  rules: [
    { level: "Metadata", nonResourceURLs: ["/audited/*"] },
    { level: "None", userGroups: ["audited"], verbs: ["list"], resources: [{ group: "", resources: ["services"] }] },
    { level: "Metadata", userGroups: ["audited"], resources: [{ group: "", resources: ["secrets"] }] },
    {
      level: "RequestResponse",
      userGroups: ["audited"],
      omitManagedFields: true,
      resources: [{ group: "", resources: ["configmaps"] }],
    },
    {
      level: "Request",
      userGroups: ["audited"],
      omitStages: ["RequestReceived"],
      resources: [{ group: "coordination.k8s.io", resources: ["leases"] }],
    },
    { level: "Metadata", userGroups: ["audited"] },
  ],
};

/** The events of one request, in the order in which they were written. */
export function auditEvents(file: string, id: string): Json[] {
  // What comes after the last end of a line is still being written.
  return readFileSync(file, "utf8")
    .split("\n")
    .slice(0, -1)
    .filter((line) => line.includes(id))
    .map((line) => JSON.parse(line) as Json);
}
