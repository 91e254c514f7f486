import { HostedControlPlane } from "@causeway/api";
import { CausewayError } from "@causeway/foundation";
import type { KubernetesClient } from "@causeway/kubernetes";
import { describe, expect, it } from "vitest";
import type { MigrationRecord } from "../../record/record.ts";
import { forgetObject } from "./objects.ts";

const record = { namespace: "tenant", name: "web" } as MigrationRecord;
const OWN = "hostedcontrolplane.controlplane.cluster.x-k8s.io";

/** A management API in which the object's patch ends with this error; what was sent is kept. */
function managementOf(code?: string): { readonly client: KubernetesClient; readonly sent: unknown[] } {
  const sent: unknown[] = [];
  const metadata = { name: "web", namespace: "tenant", uid: "u1", finalizers: [OWN, "another"] };
  const client = {
    find: async () => ({ ...HostedControlPlane, metadata }),
    patch: async (_type: unknown, _key: unknown, { body }: { body: unknown }) => {
      sent.push(body);
      if (code !== undefined) throw new CausewayError(code, "the patch was refused");
    },
    delete: async () => sent.push("delete"),
  };
  return { client: client as unknown as KubernetesClient, sent };
}

const forget = ({ client }: { readonly client: KubernetesClient }) =>
  forgetObject(client, record, "HostedControlPlane web", new AbortController().signal);

describe("a control plane that a rollback deletes", () => {
  it("keeps the finalizer by which it ends its own programs, and only the object that was read is changed", async () => {
    const management = managementOf();
    await forget(management);
    expect(management.sent).toEqual([{ metadata: { uid: "u1", finalizers: [OWN] } }, "delete"]);
  });

  it("may go between two requests, since its controller ends it at the same time", async () => {
    const management = managementOf("KUBERNETES_NOT_FOUND");
    await expect(forget(management)).resolves.toBeUndefined();
    expect(management.sent).toHaveLength(1);
  });

  it("ends the step where the management API refuses the change", async () => {
    await expect(forget(managementOf("KUBERNETES_FORBIDDEN"))).rejects.toMatchObject({ code: "KUBERNETES_FORBIDDEN" });
  });
});
