import { homedir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { InputError, isRecord, LimitExceeded, readTextFile } from "@causeway/foundation";
import type { ClusterConfig, ExecConfig } from "./interface.ts";
import {
  directoryOf,
  invalid,
  LARGEST_FILE,
  LARGEST_TEXT,
  mergeKubeconfigs,
  parseKubeconfig,
  pemOf,
  textOf,
  type Entry,
  type KubeconfigFile,
} from "./parse.ts";

/** Which kubeconfig is read, and which of its contexts. */
export interface KubeconfigOptions {
  /** A file. Without it and `text`: the files of KUBECONFIG, else ~/.kube/config. */
  readonly path?: string;
  /** Read already: with `path`, what that file has. */
  readonly text?: string;
  /** Default: the current context. */
  readonly context?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /**
   * True for a kubeconfig that others wrote (one from a Secret): it may name no files and no commands, since those
   * would be read and run as us.
   */
  readonly selfContained?: boolean;
}

/**
 * What a kubeconfig says about one context. Throws KUBECONFIG_NOT_FOUND, KUBECONFIG_INVALID or
 * KUBECONFIG_CONTEXT_UNKNOWN; secrets in the file reach no message.
 */
export function loadKubeconfig(options: KubeconfigOptions = {}): ClusterConfig {
  const config = mergeKubeconfigs(readAll(options));
  const context = selectContext(config, options.context);
  const cluster = named(config.clusters, textOf(context, "cluster"), { what: "cluster", context });
  const user =
    textOf(context, "user") === undefined
      ? undefined
      : named(config.users, textOf(context, "user"), { what: "user", context });
  if (options.selfContained) requireSelfContained(cluster, user);
  const namespace = textOf(context, "namespace");
  return { ...clusterOf(cluster), ...(user ? userOf(user) : {}), ...(namespace === undefined ? {} : { namespace }) };
}

function readAll(options: KubeconfigOptions): KubeconfigFile[] {
  const { text, path } = options;
  if (text !== undefined && path !== undefined) return [parseKubeconfig(text, resolve(path), directoryOf(path))];
  if (text !== undefined && text.length > LARGEST_TEXT)
    throw invalid("given as text", "cannot be used: it is larger than 1 MiB");
  if (text !== undefined) return [parseKubeconfig(text, "given as text", process.cwd())];
  if (path !== undefined) return [readOne(path)];
  const env = options.env ?? process.env;
  const listed = (env["KUBECONFIG"] ?? "").split(delimiter).filter((path) => path !== "");
  if (listed.length === 0) return [readOne(join(env["HOME"] ?? homedir(), ".kube", "config"))];
  // kubectl passes over listed files that do not exist, so that a list can name files yet to be made.
  const files = listed.map(readIfPresent).filter((file) => file !== undefined);
  if (files.length === 0) throw notFound(listed.join(", "));
  return files;
}

function readOne(path: string): KubeconfigFile {
  const file = readIfPresent(path);
  if (!file) throw notFound(resolve(path));
  return file;
}

function readIfPresent(path: string): KubeconfigFile | undefined {
  let text: string;
  try {
    text = readTextFile(path, LARGEST_FILE);
  } catch (cause) {
    if (cause instanceof LimitExceeded) throw invalid(resolve(path), "cannot be used: it is larger than 8 MiB");
    if ((cause as { code?: unknown }).code === "ENOENT") return undefined;
    throw new InputError("KUBECONFIG_NOT_FOUND", `the kubeconfig ${resolve(path)} cannot be read`, {
      cause,
      hint: "Check that the file may be read by this user.",
    });
  }
  return parseKubeconfig(text, resolve(path), directoryOf(path));
}

function notFound(where: string): InputError {
  return new InputError("KUBECONFIG_NOT_FOUND", `there is no kubeconfig at ${where}`, {
    hint: "Specify one with --kubeconfig or KUBECONFIG, or write ~/.kube/config.",
  });
}

function selectContext(config: KubeconfigFile, wanted: string | undefined): Entry {
  const known = [...config.contexts.keys()];
  const choices = known.length === 0 ? "It has no contexts." : `It has: ${known.join(", ")}.`;
  const name = wanted ?? config.currentContext;
  if (name === undefined) {
    // A kubeconfig with one context leaves no doubt.
    const only = known.length === 1 ? config.contexts.get(known[0] ?? "") : undefined;
    if (only) return only;
    throw new InputError("KUBECONFIG_CONTEXT_UNKNOWN", `the kubeconfig ${config.origin} has no current-context`, {
      hint: `Choose one by name. ${choices}`,
    });
  }
  const context = config.contexts.get(name);
  if (context) return context;
  throw new InputError("KUBECONFIG_CONTEXT_UNKNOWN", `the kubeconfig ${config.origin} has no context ${name}`, {
    hint: choices,
  });
}

function named(
  entries: ReadonlyMap<string, Entry>,
  name: string | undefined,
  where: { what: string; context: Entry },
): Entry {
  if (name === undefined) throw invalid(where.context.origin, `has a context that names no ${where.what}`);
  const entry = entries.get(name);
  if (!entry)
    throw invalid(where.context.origin, `has a context that names the ${where.what} ${name}, which it does not define`);
  return entry;
}

function requireSelfContained(cluster: Entry, user: Entry | undefined): void {
  const named = [
    ...["certificate-authority"].filter((field) => cluster.fields[field] !== undefined),
    ...["client-certificate", "client-key", "tokenFile", "exec"].filter((field) => user?.fields[field] !== undefined),
  ];
  if (named.length > 0) {
    throw invalid(cluster.origin, `names files or commands of another machine (${named.join(", ")})`);
  }
}

function clusterOf(entry: Entry): ClusterConfig {
  const server = textOf(entry, "server");
  if (server === undefined) throw invalid(entry.origin, "has a cluster without a server");
  if (textOf(entry, "proxy-url") !== undefined) {
    throw invalid(entry.origin, "asks for a proxy-url, which is not supported");
  }
  const ca = pemOf(entry, "certificate-authority");
  const tlsServerName = textOf(entry, "tls-server-name");
  return {
    server,
    ...(ca === undefined ? {} : { ca }),
    ...(tlsServerName === undefined ? {} : { tlsServerName }),
    ...(entry.fields["insecure-skip-tls-verify"] === true ? { insecureSkipTlsVerify: true } : {}),
  };
}

function userOf(entry: Entry): Partial<ClusterConfig> {
  const certificate = pemOf(entry, "client-certificate");
  const key = pemOf(entry, "client-key");
  const token = textOf(entry, "token");
  const tokenFile = textOf(entry, "tokenFile");
  const exec = entry.fields["exec"];
  if ((certificate === undefined) !== (key === undefined)) {
    throw invalid(entry.origin, "has a user with a client certificate but no key, or a key but no certificate");
  }
  return {
    ...(certificate === undefined || key === undefined ? {} : { certificate, key }),
    ...(token === undefined ? {} : { token }),
    ...(tokenFile === undefined ? {} : { tokenFile: resolve(entry.directory, tokenFile) }),
    ...(isRecord(exec) ? { exec: execOf({ ...entry, fields: exec }) } : {}),
  };
}

function execOf(entry: Entry): ExecConfig {
  const command = textOf(entry, "command");
  const apiVersion = textOf(entry, "apiVersion");
  if (command === undefined || apiVersion === undefined) {
    throw invalid(entry.origin, "has a user whose exec lacks a command or an apiVersion");
  }
  const { args, env } = entry.fields;
  const mode = textOf(entry, "interactiveMode");
  const installHint = textOf(entry, "installHint");
  const pairs = Array.isArray(env) ? env.filter(isRecord) : [];
  return {
    apiVersion,
    // As client-go: a command with a slash is relative to the file, others are looked up on PATH.
    command: command.includes("/") ? resolve(entry.directory, command) : command,
    args: Array.isArray(args) ? args.map(String) : [],
    env: Object.fromEntries(pairs.flatMap(variable)),
    provideClusterInfo: entry.fields["provideClusterInfo"] === true,
    interactiveMode: mode === "Never" || mode === "Always" ? mode : "IfAvailable",
    ...(installHint === undefined ? {} : { installHint }),
  };
}

function variable(pair: Record<string, unknown>): [string, string][] {
  const { name, value } = pair;
  return typeof name === "string" && typeof value === "string" ? [[name, value]] : [];
}
