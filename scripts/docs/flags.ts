import { programFlags, type FlaggedProgram } from "@causeway/api";
import type { Page } from "./page.ts";
import { table } from "./table.ts";

const programs: Readonly<Record<FlaggedProgram, { readonly name: string; readonly label: string }>> = {
  apiServer: { name: "kube-apiserver", label: "kubeapi_options" },
  controllerManager: { name: "kube-controller-manager", label: "kubecontroller_options" },
};

/** The flags of a control plane's programs that a tenant may set. */
export function flagsPage(): Page {
  const sections = Object.entries(programs).flatMap(([program, { name, label }]) => {
    const rows = programFlags[program as FlaggedProgram].map((each) => [
      `\`${each.flag}\``,
      `\`${each.field}\``,
      each.values.words,
      each.description,
      each.reason,
    ]);
    const intro = `Field \`spec.flags.${program}\` of a HostedControlPlane; label \`${label}\` of the Magnum API.`;
    return [
      `## ${name}\n\n${intro}\n\n${table(["flag", "field", "value", "meaning", "why a tenant may set it"], rows)}`,
    ];
  });
  const intro =
    "Generated from the table that the runtimes Process and Pods read. A flag is in it if it changes nothing outside of the tenant's own\n" +
    "cluster, names no file and no address, cannot keep a program from starting, and cannot make the control plane cost more than its size\n" +
    "says. Every other flag is refused: by the Magnum API with 400 and the flag's name, by the schema of a HostedControlPlane, and by the\n" +
    "runtime once more (FLAG_NOT_ALLOWED). kube-scheduler has its settings in a file of the operator's, so a tenant sets none of its flags.\n" +
    "The embedded runtime has no programs: it refuses `spec.flags` (RUNTIME_HAS_NO_FLAGS). A change restarts the programs that it concerns.";
  const text = ["# Flags of control planes", intro, ...sections].join("\n\n");
  return { path: "docs/reference/control-plane-flags.md", text: `${text}\n` };
}
