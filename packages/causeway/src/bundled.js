/*
 * JavaScript, since a start that loads no TypeScript saves the time in which Node loads what strips its types: a fifth
 * of the whole.
 */
import { mkdirSync, readFileSync, statSync } from "node:fs";
import { enableCompileCache } from "node:module";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

/** The checkout that this file is in; paths of a bundle's sources begin here. */
export const CHECKOUT = resolve(import.meta.dirname, "../../..");
/** Where `npm ci` leaves the bundle (scripts/bundle.ts). */
export const BUNDLE = join(CHECKOUT, "node_modules/.cache/causeway/bundle");
/** Next to the bundle: the stamps of what it was made of. */
export const MADE_OF = "made-of.json";

/**
 * @typedef {readonly [path: string, size: number, written: number]} Stamp Path from the checkout, bytes, and the
 * instant of the last write in milliseconds: a change of size or time means a change of the file, as for make.
 */

/**
 * What a snapshot (snapshot.ts) is built with: the stamps of its sources, and the first objects of clusters.
 * @typedef {{ stamps: readonly Stamp[], firstObjects: readonly import("@causeway/kubernetes").KubeObject[] }}
 * SnapshotFacts
 */

/**
 * The URL of an entry of the bundle; undefined where there is no bundle, or a source has changed since it was made. One
 * file instead of some six hundred saves half of a start. What it is made of is what runs without it.
 * @param {"main" | "apiserver"} entry
 * @returns {string | undefined}
 */
export function bundled(entry) {
  try {
    const stamps = /** @type {readonly Stamp[]} */ (JSON.parse(readFileSync(join(BUNDLE, MADE_OF), "utf8")));
    return stamps.every((stamp) => holds(stamp)) ? pathToFileURL(join(BUNDLE, `${entry}.js`)).href : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The stamp of a file as it is now.
 * @param {string} path
 * @returns {Stamp}
 */
export function stampOf(path) {
  const { size, mtimeMs } = statSync(join(CHECKOUT, path));
  return [path, size, mtimeMs];
}

/**
 * Whether a file is still what its stamp says.
 * @param {Stamp} stamp
 */
export function holds([path, size, written], checkout = CHECKOUT) {
  // Stamps' paths are plain: to join them takes as long as a check.
  const now = statSync(`${checkout}/${path}`, { throwIfNoEntry: false });
  return now?.size === size && now.mtimeMs === written;
}

/**
 * Has Node keep what it compiles from our sources in the user's cache folder (XDG_CACHE_HOME, mode 0700), which makes
 * later starts twice as fast. Only modules that are imported after the call count. Where there is no such folder,
 * nothing is kept.
 * @param {NodeJS.ProcessEnv} env
 */
export function keepCompiled(env) {
  const folder = join(env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "causeway", "compiled");
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    enableCompileCache(folder);
  } catch {
    // A home that cannot be written: starts are as slow as the first.
  }
}
