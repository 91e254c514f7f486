import { CausewayError } from "@causeway/foundation";
import { Secret } from "@causeway/kubernetes";
import { findCluster } from "../../clusters/find.ts";
import { withManagement } from "../../clusters/place.ts";
import type { KubeconfigOptions } from "./command.ts";

/**
 * Prints the kubeconfig that the control plane keeps for the cluster's administrator.
 * @throws CLUSTER_NOT_FOUND, KUBECONFIG_NOT_READY
 */
export async function printKubeconfig(name: string, options: KubeconfigOptions, signal: AbortSignal): Promise<void> {
  await withManagement(options, async ({ client, namespace }) => {
    await findCluster(client, { namespace, name }, signal);
    const secret = await client.find(Secret, { namespace, name: `${name}-kubeconfig` }, { signal });
    const value = secret?.data?.["value"];
    if (value === undefined) {
      throw new CausewayError("KUBECONFIG_NOT_READY", `cluster ${namespace}/${name} has no kubeconfig yet`, {
        hint: `Its control plane writes it when it is ready: causeway describe cluster ${name} -n ${namespace}`,
      });
    }
    process.stdout.write(Buffer.from(value, "base64"));
  });
}
