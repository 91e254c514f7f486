/** Plans of a deployment that is restored from a backup. */
import { secretData } from "@causeway/kubernetes";
import { describe, expect, test } from "vitest";
import { annotations } from "../model/names.ts";
import { PlayedDeployment, spec } from "../testing/deployed.ts";

describe("a restore", () => {
  const RUN = "20260101t020000z";
  const restore = { from: RUN, target: { claim: "backups" }, keys: { name: "passphrase" } };
  const created = () => {
    const deployment = new PlayedDeployment();
    deployment.spec = { ...spec, restore };
    return deployment;
  };

  test("of passwords and keys comes before everything, and the status has its step", async () => {
    const deployment = created();
    deployment.status = { maintenance: [{ node: "n1", phase: "Moving", servers: 1, message: "" }] };
    const plan = deployment.plan();
    expect(plan).toMatchObject({ phase: "Restoring", ready: "False Restoring: decrypts passwords and keys", said: [] });
    expect(plan.names).toContain("apply NetworkPolicy/cloud-restore-keys");
    expect(plan.names.some((name) => name.includes("mariadb") || name.startsWith("write"))).toBe(false);
    expect(plan.wait).toEqual({ for: "the passwords and keys of the backup" });
    expect(plan.status).toMatchObject({
      observedGeneration: 1,
      restore: { from: `cloud/${RUN}`, step: "decrypts passwords and keys", done: [] },
    });
    expect(plan.status.conditions?.map(({ type, status }) => `${type} ${status}`)).toEqual([
      "KeysRestored False",
      "DatabasesRestored False",
      "NetworkRestored False",
      "NetworkRepaired False",
      "Ready False",
    ]);
    expect(plan.status).not.toHaveProperty("maintenance");
    expect(deployment.options).toMatchObject([{ credentials: { values: {} }, isRestoring: true }]);
    for (const absent of ["tls", "operators", "ovn", "knownDatabases"])
      expect(deployment.options[0]).not.toHaveProperty(absent);
    const { generation: _none, ...metadata } = deployment.metadata;
    deployment.metadata = metadata;
    expect(deployment.plan().status).not.toHaveProperty("observedGeneration");
  });

  test("is refused, once with an event, where the deployment holds data", () => {
    const copy = created();
    copy.objects.set("Secret/cloud-credentials", { kind: "Secret", metadata: { name: "cloud-credentials" } } as never);
    const plan = copy.plan();
    const message = "Secret cloud-credentials exists: the deployment holds data, which a restore would replace";
    expect(plan).toMatchObject({
      names: [],
      phase: "Refused",
      ready: `False HoldsData: ${message}`,
      said: [`Warning HoldsData: ${message}`],
    });
    copy.status = plan.status;
    expect(copy.plan()).toMatchObject({ names: [], phase: "Refused", said: [] });
    const lastTransitionTime = "2026-01-01T00:00:00Z";
    const other = { type: "Other", status: "True", reason: "Other", message: "", lastTransitionTime } as const;
    copy.status = { ...plan.status, conditions: [other, ...(plan.status.conditions ?? [])] };
    expect(copy.plan().said).toEqual([]);
  });

  test("continues with databases once its keys were adopted, to its end", async () => {
    const deployment = created();
    const keys = { credentials: { "keystone.admin": "password" } };
    await deployment.settle(() => deployment.objects.has("Secret/cloud-restored-keys"));
    const restored = deployment.objects.get("Secret/cloud-restored-keys");
    const data = secretData({ keys: JSON.stringify(keys), backup: `cloud/${RUN}` });
    deployment.objects.set("Secret/cloud-restored-keys", { ...restored, data } as never);
    expect(deployment.plan().names).toEqual(["adopt-keys cloud-credentials"]);
    const passes = await deployment.settle();
    const phases = [...new Set(passes.map(({ phase }) => phase))];
    expect(phases).toEqual(["Restoring", "Ready"]);
    expect(passes.some(({ names }) => names.some((name) => name.includes("keystone-db-restore")))).toBe(true);
    expect(passes.at(-1)?.status.restore).toMatchObject({ step: "Done", completedAt: "2026-01-01T00:00:00Z" });
    expect(deployment.objects.get("Secret/cloud-credentials")?.metadata.annotations).toEqual({
      [annotations.restored]: `cloud/${RUN}`,
    });
    expect(deployment.options[0]).not.toHaveProperty("isRestoring");
    const before = deployment.status?.restore;
    deployment.open = ["mariadb"];
    expect(deployment.plan()).toMatchObject({ phase: "Updating", status: { restore: before } });
  });
});
