import { Option } from "@commander-js/extra-typings";
import { InputError } from "@causeway/foundation";

/** A flag of Go's kind: alone it is true. */
export function switchOption<N extends string>(name: N, text: string, otherwise: "true" | "false") {
  const flags = `--${name} [boolean]` as const;
  return new Option(flags, text)
    .choices(["true", "false"] as const)
    .preset("true")
    .default(otherwise);
}

/** A flag that is given several times. */
export function many(value: string, before: readonly string[] | undefined): string[] {
  return [...(before ?? []), value];
}

/** Flags of the upstream plugins' log library and of their Kubernetes client that change nothing here. */
export const WITHOUT_EFFECT: readonly string[] =
  `kube-api-qps kube-api-burst min-resync-period logtostderr alsologtostderr
  stderrthreshold log-dir log-file log-file-max-size log-backtrace-at add-dir-header skip-headers skip-log-headers one-output
  vmodule`.split(/\s+/);

/** Accepted, not shown. */
export const hidden = (name: string) => new Option(`--${name} [value]`).hideHelp();

/** As node-driver-registrar, which is not needed with it. */
export const kubeletRegistrationPath = () =>
  new Option(
    "--kubelet-registration-path <path>",
    "path of the driver's socket on the node: registers it with the kubelet",
  );

/** As node-driver-registrar's flag. */
export const pluginRegistrationPath = () =>
  new Option("--plugin-registration-path <dir>", "folder in which the kubelet searches plugins").default(
    "/registration",
  );

/** Which services of the driver a process serves. */
export interface ServiceFlags {
  readonly controller?: true | undefined;
  readonly node?: true | undefined;
  readonly provideControllerService: "true" | "false";
  readonly provideNodeService: "true" | "false";
}

/** --controller and --node, else upstream's two switches. @throws FLAG_INVALID */
export function servicesOf(flags: ServiceFlags): readonly ("controller" | "node")[] {
  const isOnly = flags.controller === true || flags.node === true;
  const all = [
    {
      name: "controller" as const,
      serves: isOnly ? flags.controller === true : flags.provideControllerService === "true",
    },
    { name: "node" as const, serves: isOnly ? flags.node === true : flags.provideNodeService === "true" },
  ];
  const services = all.filter(({ serves }) => serves).map(({ name }) => name);
  if (services.length > 0) return services;
  throw invalidFlag("provide-node-service", "true, unless --provide-controller-service is");
}

/** The error for a value that a flag cannot have; `must` continues "must be". */
export const invalidFlag = (flag: string, must: string) =>
  new InputError("FLAG_INVALID", `--${flag} must be ${must}.`, {
    hint: "Correct the flag; --help lists its values.",
  });
