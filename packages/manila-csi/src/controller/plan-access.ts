import type { SharedFileSystem } from "@causeway/openstack";
import type { ShareAdapter } from "../shares/adapter.ts";

type AccessRule = SharedFileSystem.AccessRule;

/** What has to be done until all clients can use a share. */
export type AccessStep =
  | { readonly type: "grant"; readonly client: string }
  | { readonly type: "wait" }
  | { readonly type: "done"; readonly rules: readonly AccessRule[] }
  /** Manila could not apply the rule: remove it, so that the next call grants it again. */
  | { readonly type: "remove-failed"; readonly rule: AccessRule }
  | { readonly type: "fail"; readonly code: "CSI_FAILED_PRECONDITION" | "CSI_ABORTED"; readonly message: string };

/** What `planAccess` reads. */
export interface AccessView {
  readonly adapter: Pick<ShareAdapter, "accessType" | "isComplete">;
  readonly clients: readonly string[];
  readonly rules: readonly AccessRule[];
}

const LEAVING = new Set(["queued_to_deny", "denying"]);

/** One rule with read and write access for each client. */
export function planAccess({ adapter, clients, rules }: AccessView): AccessStep {
  const granted: AccessRule[] = [];
  for (const client of clients) {
    const rule = rules.find((each) => each.access_type === adapter.accessType && each.access_to === client);
    if (!rule) return { type: "grant", client };
    if (LEAVING.has(rule.state)) return fail("CSI_ABORTED", `Access rule ${rule.id} for ${client} is being removed.`);
    if (rule.state === "error") return { type: "remove-failed", rule };
    if (rule.access_level !== "rw") {
      return fail(
        "CSI_FAILED_PRECONDITION",
        `Access rule ${rule.id} gives ${client} only ${rule.access_level} access.`,
      );
    }
    granted.push(rule);
  }
  const isUsable = (rule: AccessRule) => rule.state === "active" && adapter.isComplete(rule);
  return granted.every(isUsable) ? { type: "done", rules: granted } : { type: "wait" };
}

function fail(code: "CSI_FAILED_PRECONDITION" | "CSI_ABORTED", message: string): AccessStep {
  return { type: "fail", code, message };
}
