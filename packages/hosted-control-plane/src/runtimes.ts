import { CausewayError } from "@causeway/foundation";
import type { ControlPlaneRuntime, ControlPlaneSpec, RuntimeName } from "./runtime.ts";

/** Which runtimes there are, and which one is the default. */
export interface RuntimesOptions {
  readonly runtimes: Readonly<Partial<Record<RuntimeName, ControlPlaneRuntime>>>;
  /** For control planes that name none. */
  readonly default: RuntimeName;
}

/** Several runtimes as one: each control plane is run by the one that it names. */
export function createRuntimes({ runtimes, default: fallback }: RuntimesOptions): ControlPlaneRuntime {
  const all = Object.values(runtimes);
  const chosen = ({ runtime = fallback }: ControlPlaneSpec): ControlPlaneRuntime => {
    const found = runtimes[runtime];
    if (found) return found;
    throw new CausewayError(
      "RUNTIME_NOT_OFFERED",
      `runtime ${runtime} of control planes is not available in this process`,
      {
        hint: `Available here: ${Object.keys(runtimes).join(", ") || "none"}. \`causeway up --runtime process --programs DIR\` offers Process, \`causeway run hosted-control-plane\` offers Pods.`,
      },
    );
  };
  return {
    ensure: async (spec, signal) => chosen(spec).ensure(spec, signal),
    async observe(id, signal) {
      for (const runtime of all) {
        const state = await runtime.observe(id, signal);
        if (state !== undefined) return state;
      }
      return undefined;
    },
    onChange(listener) {
      const ends = all.map((runtime) => runtime.onChange(listener));
      return () => {
        for (const end of ends) end();
      };
    },
    assignsEndpoint: (name = fallback) => runtimes[name]?.assignsEndpoint?.(name) === true,
    async tunnel(id, signal) {
      for (const runtime of all)
        if ((await runtime.observe(id, signal)) !== undefined) return runtime.tunnel?.(id, signal);
      return undefined;
    },
    async output(id, signal) {
      for (const runtime of all)
        if ((await runtime.observe(id, signal)) !== undefined) return runtime.output?.(id, signal);
      return undefined;
    },
    async remove(id, signal) {
      for (const runtime of all) await runtime.remove(id, signal);
    },
  };
}
