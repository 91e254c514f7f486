import { InputError, isRecord } from "@causeway/foundation";
import { parse, stringify } from "yaml";

/** The program that kubectl runs for a token (client.authentication.k8s.io/v1). */
export interface Plugin {
  readonly command: string;
  readonly args: readonly string[];
  /** Variables that it gets in addition to kubectl's. */
  readonly env: readonly { readonly name: string; readonly value: string }[];
}

type Json = Record<string, unknown>;

/**
 * The kubeconfig's current context with the plugin as its user: no credential of the old user is in it. @throws
 * KUBECONFIG_INVALID
 */
export function withPlugin(kubeconfig: string, { command, args, env }: Plugin): string {
  const given = record(read(kubeconfig));
  const current = given["current-context"];
  const context = record(named(given["contexts"], current)?.["context"]);
  const cluster = named(given["clusters"], context["cluster"]);
  if (typeof current !== "string" || cluster === undefined) throw invalid("its current context names no cluster in it");
  const exec = {
    apiVersion: "client.authentication.k8s.io/v1",
    command,
    args: [...args],
    ...(env.length > 0 && { env: [...env] }),
    interactiveMode: "IfAvailable",
    provideClusterInfo: false,
    installHint: "The command is part of Causeway.",
  };
  const user = "keystone";
  return stringify(
    {
      apiVersion: "v1",
      kind: "Config",
      clusters: [cluster],
      users: [{ name: user, user: { exec } }],
      contexts: [{ name: current, context: { ...context, user } }],
      "current-context": current,
    },
    { lineWidth: 0, version: "1.1" },
  );
}

function read(kubeconfig: string): unknown {
  try {
    return parse(kubeconfig, { prettyErrors: false, logLevel: "error" });
  } catch {
    // What the parser says would show the credentials.
    throw invalid("it is not YAML");
  }
}

function invalid(why: string): InputError {
  return new InputError("KUBECONFIG_INVALID", `The kubeconfig cannot be used: ${why}.`, {
    hint: "Specify a kubeconfig with a current context, as `kubectl config view --minify --flatten` prints it.",
  });
}

function named(list: unknown, name: unknown): Json | undefined {
  return Array.isArray(list) ? list.map(record).find((entry) => entry["name"] === name) : undefined;
}

function record(value: unknown): Json {
  return isRecord(value) ? value : {};
}
