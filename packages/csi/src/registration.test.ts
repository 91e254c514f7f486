import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { connect } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { serveRegistration } from "./index.ts";
import { Registration } from "./registration.generated.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "reg-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const endpoint = "/var/lib/kubelet/plugins/a.csi/csi.sock";

/** As the kubelet, which finds the socket by its name. */
function kubelet(name: string) {
  const path = join(folder, `${name}-reg.sock`);
  const transport = createGrpcTransport({
    baseUrl: "http://localhost",
    nodeOptions: { createConnection: () => connect(path) },
  });
  return createClient(Registration, transport);
}

test("a kubelet that finds the socket reads the driver's name, socket and version, and registers it", async () => {
  const server = await serveRegistration({ folder, name: "a.csi", endpoint });
  const client = kubelet("a.csi");
  const { type, name, endpoint: at, supportedVersions } = await client.getInfo({});
  expect({ type, name, at, supportedVersions }).toEqual({
    type: "CSIPlugin",
    name: "a.csi",
    at: endpoint,
    supportedVersions: ["1.0.0"],
  });
  await client.notifyRegistrationStatus({ pluginRegistered: true });
  await server.close();
});

test("a refusal of the kubelet ends the driver with the kubelet's reason", async () => {
  const server = await serveRegistration({ folder, name: "a.csi", endpoint });
  await kubelet("a.csi").notifyRegistrationStatus({ pluginRegistered: false, error: "no such socket" });
  await expect(server.refused).rejects.toMatchObject({
    code: "CSI_REGISTRATION_REFUSED",
    message: "The kubelet refuses the driver a.csi: no such socket",
  });
  await server.close();
});
