import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createRequest } from "@causeway/foundation";
import { createClient, loadKubeconfig } from "@causeway/kubernetes";
import type { RealNode } from "./kubelet.ts";
import type { Rig } from "./rig.ts";

/**
 * Has a node's own credentials, those of its kubelet, request a serving certificate for an address that is not its own;
 * the name of the request.
 */
export async function forgeRequest(rig: Rig, node: RealNode, address: string): Promise<string> {
  const { server, ca = "" } = loadKubeconfig({ text: readFileSync(rig.kubeconfig, "utf8") });
  const pair = readFileSync(join(diskOf(rig, node), "var/lib/kubelet/pki/kubelet-client-current.pem"), "utf8");
  const kubelet = createClient({ server, ca, certificate: pair, key: pair });
  const subject = { commonName: `system:node:${node.name}`, organizations: ["system:nodes"], ipAddresses: [address] };
  const { request } = await createRequest(subject);
  const name = `forged-${node.server}`;
  const spec = {
    request: Buffer.from(request).toString("base64"),
    signerName: "kubernetes.io/kubelet-serving",
    usages: ["digital signature", "server auth"],
  };
  const body = { apiVersion: "certificates.k8s.io/v1", kind: "CertificateSigningRequest", metadata: { name }, spec };
  try {
    await kubelet.request("POST", "/apis/certificates.k8s.io/v1/certificatesigningrequests", { body });
  } finally {
    await kubelet.close();
  }
  return name;
}

/** The folder of a machine's disk; the agent has one for each project. */
function diskOf(rig: Rig, { name, server }: RealNode): string {
  const projects = readdirSync(join(rig.dir, "machines"));
  const project = projects.find((each) => readdirSync(join(rig.dir, "machines", each)).includes(server));
  if (project === undefined) throw new Error(`the machine of ${name} has no disk in ${rig.dir}`);
  return join(rig.dir, "machines", project, server, "root");
}
