import { OpenStackDeployment } from "@causeway/api";
import { InputError } from "@causeway/foundation";
import type { KubernetesClient } from "@causeway/kubernetes";
import { explainComponent } from "@causeway/openstack-operator";
import { withManagement } from "../../clusters/place.ts";
import { exitStatus } from "../../terminal/report-error.ts";
import type { ExplainOptions } from "./command.ts";

/**
 * Prints the chain from a component to its root cause.
 * @throws OPENSTACK_DEPLOYMENT_NOT_FOUND, OPENSTACK_COMPONENT_UNKNOWN
 */
export async function explain(workload: string, options: ExplainOptions, signal: AbortSignal): Promise<void> {
  await withManagement(options, async ({ client, namespace }) => {
    const deployment = await findDeployment(client, { namespace, name: options.deployment }, signal);
    const lines = explainComponent(deployment, workload);
    if (!lines) {
      const names = deployment.status?.components?.map(({ name }) => name).join(", ") ?? "";
      throw new InputError(
        "OPENSTACK_COMPONENT_UNKNOWN",
        `OpenStackDeployment ${namespace}/${deployment.metadata.name} has no component ${workload}.`,
        { hint: names === "" ? "Its controller has not reconciled it yet." : `Components: ${names}.` },
      );
    }
    process.stdout.write(`${lines.map((line, depth) => "  ".repeat(depth) + line).join("\n")}\n`);
    if (lines.length > 1) process.exitCode = exitStatus.findings;
  });
}

/** The named deployment, or the only one of the namespace. */
export async function findDeployment(
  client: KubernetesClient,
  { namespace, name }: { readonly namespace: string; readonly name: string | undefined },
  signal: AbortSignal,
): Promise<OpenStackDeployment> {
  const { items } = await client.list(OpenStackDeployment, { namespace, signal });
  const found = items.filter(({ metadata }) => name === undefined || metadata.name === name);
  const [first] = found;
  if (first && found.length === 1) return first;
  throw new InputError(
    "OPENSTACK_DEPLOYMENT_NOT_FOUND",
    found.length > 1
      ? `Namespace ${namespace} has several OpenStackDeployments.`
      : `There is no OpenStackDeployment ${name === undefined ? "" : `${name} `}in namespace ${namespace}.`,
    { hint: "See `kubectl get openstackdeployments -A`; choose one with --deployment and --namespace." },
  );
}
