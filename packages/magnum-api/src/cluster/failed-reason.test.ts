/** What tenants read of a step that failed with the operator's account: no address of the operator's. */
import { CausewayError } from "@causeway/foundation";
import { expect, it } from "vitest";
import { reasonOf } from "./failed-reason.ts";
import type { Step } from "./steps.ts";

const where = "identity at https://keystone-admin.internal:35357";
const hidden = "Keystone refused the request; the operator's log has the reason";

it.for<[Step["type"], string, string]>([
  ["revoke-credential", "OPENSTACK_UNREACHABLE", `${hidden} (OPENSTACK_UNREACHABLE)`],
  ["discard-row", "OPENSTACK_FORBIDDEN", `${hidden} (OPENSTACK_FORBIDDEN)`],
  ["apply", "OPENSTACK_UNREACHABLE", "identity at (address) cannot be reached (OPENSTACK_UNREACHABLE)"],
  ["revoke-credential", "MAGNUM_TRUSTEE_ACCOUNT", "identity at (address) cannot be reached (MAGNUM_TRUSTEE_ACCOUNT)"],
])("the reason of a cluster in which %s fails with %s", ([step, code, says]) => {
  expect(reasonOf(step, new CausewayError(code, `${where} cannot be reached`), "magnum-p")).toBe(says);
});
