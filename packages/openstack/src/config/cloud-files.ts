import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { LimitExceeded, messageOf, readTextFile, InputError } from "@causeway/foundation";

/** Where clouds.yaml and the files next to it are searched for. */
export interface SearchOptions {
  /** A clouds.yaml to take in place of any other. */
  readonly path?: string | undefined;
  /** Default process.env. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Default the working directory. */
  readonly directory?: string;
}

/** A file that was found and read; `path` is for messages. */
export interface CloudFile {
  readonly path: string;
  readonly text: string;
}

/** The clouds.yaml to use. Throws CLOUDS_YAML_NOT_FOUND with the places that were searched. */
export function findCloudFiles(options: SearchOptions): CloudFile {
  const named = options.path ?? (options.env ?? process.env)["OS_CLIENT_CONFIG_FILE"];
  const places =
    named === undefined || named === ""
      ? folders(options).flatMap((f) => both(join(f, "clouds.yaml")))
      : [resolve(named)];
  const path = places.find((p) => existsSync(p));
  if (path === undefined) {
    throw new InputError("CLOUDS_YAML_NOT_FOUND", `No clouds.yaml was found; searched ${places.join(", ")}.`, {
      hint: "Download it from the cloud's dashboard (API access) and point OS_CLIENT_CONFIG_FILE at it.",
      details: { places },
    });
  }
  return read(path);
}

/** secure.yaml or clouds-public.yaml: next to the clouds.yaml, or in the places where that may be. */
export function findCompanion(name: string, file: CloudFile, options: SearchOptions): CloudFile | undefined {
  const named = name === "secure.yaml" ? (options.env ?? process.env)["OS_CLIENT_SECURE_FILE"] : undefined;
  const places = named === undefined ? [dirname(file.path), ...folders(options)].map((f) => join(f, name)) : [named];
  const path = places.flatMap(both).find((p) => existsSync(p));
  return path === undefined ? undefined : read(path);
}

function folders(options: SearchOptions): string[] {
  const env = options.env ?? process.env;
  const home = env["XDG_CONFIG_HOME"] ?? (env["HOME"] === undefined ? undefined : join(env["HOME"], ".config"));
  const own = home === undefined ? [] : [join(home, "openstack")];
  return [options.directory ?? process.cwd(), ...own, "/etc/openstack"];
}

function both(path: string): string[] {
  return [path, path.replace(/\.yaml$/, ".yml")];
}

/** Bytes of a clouds.yaml, or of one in a Secret. */
export const LARGEST_CLOUDS_YAML = 1024 * 1024;

/** The error for a clouds.yaml that is larger. */
export function tooLarge(path: string): InputError {
  return new InputError("CLOUDS_YAML_INVALID", `${path} was not read: it is larger than 1 MiB.`, {
    hint: "Keep only the clouds that are used, or name another file with OS_CLIENT_CONFIG_FILE.",
  });
}

function read(path: string): CloudFile {
  try {
    return { path, text: readTextFile(path, LARGEST_CLOUDS_YAML) };
  } catch (cause) {
    if (cause instanceof LimitExceeded) throw tooLarge(path);
    throw new InputError("CLOUDS_YAML_INVALID", `${path} cannot be read: ${messageOf(cause)}`, {
      hint: "Make the file readable for this user, or point OS_CLIENT_CONFIG_FILE at another file.",
      cause,
    });
  }
}
