import type { OpenStackDeploymentSpec, OpenStackService } from "@causeway/api";
import { secretData, type ConfigMap, type Secret } from "@causeway/kubernetes";
import {
  cellOptions,
  checkConfiguration,
  configurations,
  LOGGING_FILE,
  loggingFile,
  merged,
  needsLoggingFile,
  patientDatabases,
  renderIni,
  withLoggingFile,
  type Facts,
  type OptionProblem,
  type Sections,
  type TlsMaterial,
} from "../config/index.ts";
import { accountKey, accountKeys } from "../credentials/credentials.ts";
import { cellOf, furtherCell } from "../model/cell.ts";
import type { Component } from "../model/component.ts";
import { labels } from "../model/names.ts";
import { programsOf } from "../programs/programs.ts";
import {
  configurationKey,
  digestOf,
  DATABASE_WATCH,
  FRONT,
  hasFront,
  LINES,
  metadataOf,
  ownConfiguration,
  type ConfigurationNames,
  type Context,
  type Rendered,
  type TlsNames,
} from "./context.ts";
import { drains, overridesOf } from "./grace.ts";
import { exporterOf } from "./metrics.ts";
import { askingProgram } from "./probes.ts";

/**
 * Configuration and credentials never change in place: each content has its own name, and a pod that starts again
 * starts with what it had. What no pod refers to any more is removed by the controller.
 */
export interface Revisions {
  readonly objects: readonly Rendered<ConfigMap | Secret>[];
  readonly configuration: ReadonlyMap<string, ConfigurationNames>;
  readonly keys: ReadonlyMap<string, string>;
  readonly tls: TlsNames | undefined;
  readonly programs: ReadonlyMap<string, string>;
  readonly programTexts: Readonly<Record<string, string>>;
  readonly problems: readonly OptionProblem[];
}

type Owner = Pick<Context, "deployment">;

/** All revisions that a deployment's pods refer to now, and what is wrong with the administrator's options. */
export function revisionsOf(owner: Owner, facts: Facts): Revisions {
  const objects: Rendered<ConfigMap | Secret>[] = [];
  const problems: OptionProblem[] = [];
  const add = (object: ConfigMap | Secret): string => {
    objects.push({ object });
    return object.metadata.name;
  };
  const configuration = new Map<string, ConfigurationNames>();
  for (const service of facts.catalogue.services) {
    for (const group of ["", ...groupsWithOptions(facts.spec, service)]) {
      const made = configurationOfService(owner, facts, { service, group });
      if (!made) continue;
      problems.push(...made.problems);
      for (const [key, { open, secret }] of made.files)
        configuration.set(key, { open: add(open), secret: add(secret) });
    }
  }
  const keys = new Map<string, string>();
  const components = facts.catalogue.components.filter(({ kind }) => kind !== "External");
  for (const component of components) {
    const values = keysOf(facts, component);
    if (Object.keys(values).length > 0)
      keys.set(component.name, add(secretRevision(owner, `${component.name}-keys`, values)));
  }
  const programTexts = programsOf(facts);
  const programs = new Map<string, string>();
  for (const component of components) {
    const names = programNames(facts.spec, component);
    const texts = Object.fromEntries(names.map((name) => [name, programTexts[name] ?? ""]));
    if (Object.keys(texts).length > 0)
      programs.set(component.name, add(configMapRevision(owner, `${component.name}-programs`, texts)));
  }
  const tls = facts.tls && tlsRevisions(owner, facts.tls, add);
  return { objects, configuration, keys, tls, programs, programTexts, problems: distinct(problems) };
}

function tlsRevisions(owner: Owner, { authorities, pairs }: TlsMaterial, add: (object: ConfigMap | Secret) => string) {
  return {
    authorities: add(configMapRevision(owner, "authorities", { "ca.crt": authorities })),
    pairs: new Map(
      Object.entries(pairs).flatMap(([component, pair]) =>
        pair
          ? [
              [
                component,
                add(secretRevision(owner, `${component}-tls`, { "tls.crt": pair.certificate, "tls.key": pair.key })),
              ] as const,
            ]
          : [],
      ),
    ),
  };
}

/** Every option of the specification that a service would not read. Nothing is rendered that has a password. */
export function optionProblems(facts: Facts): OptionProblem[] {
  const problems: OptionProblem[] = [];
  for (const service of facts.catalogue.services)
    for (const group of ["", ...groupsWithOptions(facts.spec, service)])
      problems.push(...problemsOfService(facts, { service, group }));
  return distinct(problems);
}

function problemsOfService(facts: Facts, { service, group }: { service: OpenStackService; group: string }) {
  const made = configurations[service]?.(facts);
  if (!made) return [];
  const { release } = facts.spec;
  const overrides = overridesOf(facts.spec, service, group === "" ? undefined : group);
  const open = withLoggingFile(release, service, merged(made.open, overrides));
  return [...checkConfiguration(release, service, merged(open, made.secret)), ...secretsInTheOpen(service, overrides)];
}

/** Each component has a ConfigMap of its own: a program that changes replaces no pod that does not run it. */
function programNames(spec: OpenStackDeploymentSpec, component: Component): string[] {
  const gate = (component.sameNode ?? []).length > 0 ? ["wait-for.sh"] : [];
  const asking = askingProgram(component) ?? [];
  const exporter = exporterOf(spec, component)?.programs ?? [];
  const stop = drains(component) ? ["drain.sh"] : component.settles === undefined ? [] : [component.settles];
  const front = hasFront(spec, component) ? [FRONT, DATABASE_WATCH] : [];
  return [LINES, ...(component.programs ?? []), ...front, ...stop, ...gate, ...[asking].flat(), ...exporter];
}

function distinct(problems: readonly OptionProblem[]): OptionProblem[] {
  return [...new Map(problems.map((problem) => [`${problem.service} ${problem.message}`, problem])).values()];
}

function groupsWithOptions({ nodeGroups }: OpenStackDeploymentSpec, service: OpenStackService): string[] {
  return nodeGroups
    .filter(({ configuration }) => configuration?.some((each) => each.service === service))
    .map(({ name }) => name);
}

function configurationOfService(owner: Owner, facts: Facts, of: { service: OpenStackService; group: string }) {
  const { service, group } = of;
  const made = configurations[service]?.(facts);
  if (!made) return undefined;
  const overrides = overridesOf(facts.spec, service, group === "" ? undefined : group);
  const { release } = facts.spec;
  const ownOnes = ownConfigurations(facts, of);
  const files = [undefined, ...ownOnes].map((component) => {
    const suffix = [service, group, component && ownConfiguration(component)].filter(Boolean).join("-");
    const inCell = cellOptions(facts, component && furtherCell(component));
    const open = withLoggingFile(release, service, merged(made.open, inCell.open, overrides));
    const logging = needsLoggingFile(release) ? { [LOGGING_FILE]: loggingFile(open) } : {};
    const has = (sections: Sections) => renderIni(without(sections, component?.lacks ?? []));
    return [
      configurationKey(service, group, component),
      {
        open: configMapRevision(owner, `${suffix}-etc`, {
          "service.conf": has(open),
          "job.conf": has(patientDatabases(open)),
          ...logging,
        }),
        secret: secretRevision(owner, `${suffix}-credentials`, {
          "credentials.conf": has(merged(made.secret, inCell.secret)),
        }),
      },
    ] as const;
  });
  return { files, problems: problemsOfService(facts, of) };
}

/** Components of a service with a configuration of their own: one for each that differs from all others. */
function ownConfigurations({ spec, catalogue }: Facts, of: { service: OpenStackService; group: string }): Component[] {
  const group = spec.nodeGroups.find(({ name }) => name === of.group);
  const found = new Map<string, Component>();
  for (const component of catalogue.components) {
    const own = ownConfiguration(component);
    if (own === undefined || found.has(own) || !component.configuration?.includes(of.service)) continue;
    const { cell, lacks } = component;
    // On the nodes of a group there are no processes but those of its own cell, and of these no conductors.
    const isElsewhere = group !== undefined && cell !== undefined && (cellOf(group) !== cell || lacks === undefined);
    if (!isElsewhere) found.set(own, component);
  }
  return [...found.values()];
}

const without = (sections: Sections, names: readonly string[]): Sections =>
  Object.fromEntries(Object.entries(sections).filter(([name]) => !names.includes(name)));

const SECRET_OPTION = /password|passwd|secret|^connection$|^sql_connection$|transport_url|_key$|kek/;

/** Keys that stored data is encrypted with, and why another one cannot take their place. */
const DATA_KEYS: Readonly<Record<string, string | undefined>> = {
  "heat auth_encryption_key":
    "trusts and passwords of stacks are encrypted with the deployment's key, and would be lost: heat-manage update_params encrypts parameters and properties again, and nothing else. Leave it out",
  "barbican kek":
    "the keys of projects are encrypted with the deployment's key, and their secrets would be lost. Leave it out",
};

/** Options of the specification can be read by all users who may read the deployment. */
function secretsInTheOpen(service: OpenStackService, overrides: Sections): OptionProblem[] {
  return Object.entries(overrides).flatMap(([section, options]) =>
    Object.keys(options)
      .filter((option) => SECRET_OPTION.test(option))
      .map((option) => ({
        service,
        section,
        option,
        message: `[${section}] ${option}: ${DATA_KEYS[`${service} ${option}`] ?? "options with secrets go into the Secret of services[].secretConfiguration"}`,
      })),
  );
}

/** The files that a component mounts: for Jobs that make accounts every generation that must exist. */
function keysOf({ credentials, catalogue }: Facts, component: Component): Record<string, string> {
  const values: Record<string, string> = {};
  const accounts = new Set<string>(accountKeys(catalogue.components));
  for (const key of component.secrets ?? []) {
    if (isExternal(catalogue, component, key)) continue;
    if (!accounts.has(key)) {
      const value = credentials.values[key];
      if (value !== undefined) values[key] = value;
      continue;
    }
    values["accounts"] = credentials.accounts.join(" ");
    for (const generation of credentials.accounts) {
      const name = accountKey(key as `${string}.database`, generation);
      values[name] = credentials.values[name] ?? "";
    }
  }
  return values;
}

/** The account of a server outside the cluster, or of another operator, is in a Secret that is not ours. */
function isExternal({ databases, brokers, components }: Facts["catalogue"], { service }: Component, key: string) {
  const backend =
    key === "database.admin" ? databases.get(service) : key === "broker.admin" ? brokers.get(service) : "";
  return typeof backend === "object" || components.some(({ name, operator }) => name === backend && operator);
}

function configMapRevision(owner: Owner, name: string, data: Record<string, string>): ConfigMap {
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: revisionMetadata(owner, name, data),
    immutable: true,
    data,
  };
}

function secretRevision(owner: Owner, name: string, values: Record<string, string>): Secret {
  const data = secretData(values);
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: revisionMetadata(owner, name, data),
    type: "Opaque",
    immutable: true,
    data,
  };
}

function revisionMetadata(owner: Owner, name: string, data: Record<string, string>) {
  const full = `${owner.deployment.metadata.name}-${name}-${digestOf(data)}`;
  return metadataOf(owner, full, { labels: { [labels.revision]: name } });
}
