import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { builtIn, type ClusterFacts } from "@causeway/addons";
import { kubectl } from "./kubectl.ts";

type Choice = Parameters<typeof builtIn>[0];

/** Applies built-in add-ons to the cluster. */
export async function applyAddons(
  { kubeconfig, dir }: { readonly kubeconfig: string; readonly dir: string },
  facts: ClusterFacts,
  choices: readonly Choice[],
): Promise<void> {
  const items = choices.flatMap((choice) => builtIn(choice, facts).objects);
  const file = join(dir, "addons.json");
  writeFileSync(file, JSON.stringify({ apiVersion: "v1", kind: "List", items }), { mode: 0o600 });
  await kubectl(kubeconfig, "apply", "--server-side", "-f", file);
}

/** Waits until every pod of the add-ons runs. */
export async function awaitAddons(kubeconfig: string): Promise<void> {
  const all = JSON.parse(
    await kubectl(kubeconfig, "-n", "kube-system", "get", "daemonsets,deployments", "-o", "json"),
  ) as {
    readonly items: readonly { readonly kind: string; readonly metadata: { readonly name: string } }[];
  };
  for (const { kind, metadata } of all.items)
    await kubectl(kubeconfig, "-n", "kube-system", "rollout", "status", `${kind}/${metadata.name}`, "--timeout=900s");
}
