import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Secret } from "@causeway/kubernetes";
import { launch, type RunningProgram } from "../programs/run.ts";
import { freePorts } from "../support/free-ports.ts";

/** What of a Deployment's template an echo server needs. */
export interface EchoTemplate {
  readonly metadata?: { readonly labels?: Readonly<Record<string, string>> };
  readonly spec?: {
    readonly containers?: readonly {
      readonly env?: readonly { readonly name: string; readonly value?: string }[];
      readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[];
    }[];
    readonly volumes?: readonly {
      readonly name: string;
      readonly secret?: {
        readonly secretName?: string;
        readonly items?: readonly { readonly key: string; readonly path: string }[];
      };
    }[];
  };
}

/** A pod that is a process of this machine. */
export interface EchoPod {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Where the ports of its container are on loopback. */
  readonly ports: Readonly<Record<number, number>>;
  readonly running: RunningProgram;
}

interface EchoOf {
  readonly program: string;
  readonly dir: string;
  readonly namespace: string;
  readonly name: string;
  readonly template: EchoTemplate;
  readonly secret: (name: string) => Promise<Secret | undefined>;
}

/** Starts the container of a pod as a process, with its Secrets as files. */
export async function startEcho(of: EchoOf): Promise<EchoPod> {
  const { program, namespace, name, template } = of;
  const [http = 0, h2c = 0, https = 0] = await freePorts(3);
  await writeVolumes(of);
  const ports = { HTTP_PORT: String(http), H2C_PORT: String(h2c), HTTPS_PORT: String(https) };
  const env = { ...environmentOf(of), ...ports, POD_NAME: name, NAMESPACE: namespace };
  const running = launch(program, [], { env });
  // Not every kind of server says that it listens.
  await running.until(/listening (on|at)/, 5_000).catch(() => {});
  return { name, labels: template.metadata?.labels ?? {}, ports: { 3000: http, 3001: h2c, 8443: https }, running };
}

const homeOf = ({ dir, namespace, name }: EchoOf): string => join(dir, `${namespace}-${name}`);

async function writeVolumes(of: EchoOf): Promise<void> {
  for (const { name: volume, secret: source } of of.template.spec?.volumes ?? []) {
    const found = source && (await of.secret(source.secretName ?? ""));
    mkdirSync(join(homeOf(of), volume), { recursive: true });
    for (const { key, path } of source?.items ?? []) {
      const bytes = Buffer.from(found?.data?.[key] ?? "", "base64");
      writeFileSync(join(homeOf(of), volume, path), bytes, { mode: 0o600 });
    }
  }
}

/** The container's environment; paths in its volumes are those of the files. */
function environmentOf(of: EchoOf): Record<string, string> {
  const [container] = of.template.spec?.containers ?? [];
  const local = (value: string): string => {
    const mount = container?.volumeMounts?.find(({ mountPath }) => value.startsWith(`${mountPath}/`));
    return mount ? join(homeOf(of), mount.name, value.slice(mount.mountPath.length)) : value;
  };
  const given = (container?.env ?? []).flatMap(({ name, value }) =>
    value === undefined ? [] : [[name, local(value)] as const],
  );
  return Object.fromEntries(given);
}
