import { HostedControlPlane, type Cluster } from "@causeway/api";
import { CausewayError, InputError } from "@causeway/foundation";
import { Secret, type KubernetesClient } from "@causeway/kubernetes";
import { findCluster } from "../../clusters/find.ts";
import { withManagement } from "../../clusters/place.ts";
import { withPlugin } from "../../credential-plugin/kubeconfig.ts";
import { ownCommand } from "../../credential-plugin/own-command.ts";
import type { KubeconfigOptions } from "./command.ts";
import { ownName } from "../../terminal/own-name.ts";

interface Key {
  readonly namespace: string;
  readonly name: string;
}

/**
 * Prints the kubeconfig that the control plane keeps for the cluster's administrator, or one with the credential plugin
 * in place of the administrator's certificate.
 * @throws CLUSTER_NOT_FOUND, KUBECONFIG_NOT_READY, CLUSTER_WITHOUT_KEYSTONE
 */
export async function printKubeconfig(name: string, options: KubeconfigOptions, signal: AbortSignal): Promise<void> {
  await withManagement(options, async ({ client, namespace }) => {
    const cluster = await findCluster(client, { namespace, name }, signal);
    const takes = options.keystone ? await keystoneOf(client, cluster, signal) : undefined;
    const secret = await client.find(Secret, { namespace, name: `${name}-kubeconfig` }, { signal });
    const value = secret?.data?.["value"];
    if (value === undefined) {
      throw new CausewayError("KUBECONFIG_NOT_READY", `cluster ${namespace}/${name} has no kubeconfig yet`, {
        hint: `Its control plane writes it when it is ready: ${ownName()} describe cluster ${name} -n ${namespace}`,
      });
    }
    const administrators = Buffer.from(value, "base64").toString("utf8");
    if (takes === undefined) return void process.stdout.write(administrators);
    const own = ownCommand({ script: process.argv[1], execPath: process.execPath, path: process.env["PATH"] });
    const cloud = options.osCloud === undefined ? [] : [`--cloud=${options.osCloud}`];
    const args = [...own.args, "keystone-token", ...cloud];
    process.stdout.write(withPlugin(administrators, { command: own.command, args, env: [] }));
    process.stderr.write(`${takes}\n`);
  });
}

/**
 * In words, whose tokens the cluster takes. The kubeconfig does not send credentials there: users say where theirs
 * belong.
 */
async function keystoneOf(client: KubernetesClient, cluster: Cluster, signal: AbortSignal): Promise<string> {
  const { namespace = "default", name } = cluster.metadata;
  const reference = cluster.spec.controlPlaneRef;
  const key: Key = { namespace, name: reference?.name ?? "" };
  const isHosted = reference?.kind === "HostedControlPlane";
  const plane = isHosted ? await client.find(HostedControlPlane, key, { signal }) : undefined;
  const keystone = plane?.spec.authentication?.keystone;
  if (keystone !== undefined)
    return `The cluster takes tokens of ${keystone.authURL} for project ${keystone.projects.join(", ")}.`;
  throw new InputError("CLUSTER_WITHOUT_KEYSTONE", `cluster ${namespace}/${name} takes no tokens of a Keystone`, {
    hint: isHosted
      ? `Set spec.authentication.keystone of HostedControlPlane ${namespace}/${key.name}.`
      : "Only clusters with a HostedControlPlane have spec.authentication.keystone; see docs/reference/keystone-auth.md for others.",
  });
}
