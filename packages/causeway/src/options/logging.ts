import { Option } from "@commander-js/extra-typings";
import { InputError } from "@causeway/foundation";

/** The levels of the log, the most talkative first. */
export const LOG_LEVELS = ["debug", "info", "warn", "error", "silent"] as const;

/** `--log-level`, with this level unless the user gives another. */
export function logLevelOption(level: (typeof LOG_LEVELS)[number] = "warn") {
  return new Option("--log-level <level>", "what to log on standard error: text on a terminal, JSON lines elsewhere")
    .choices(LOG_LEVELS)
    .default(level);
}

type Level = (typeof LOG_LEVELS)[number];

/**
 * --log-level, else -v as Go's programs have it: "-v=4", which is read as "=4", is level 4.
 * @throws FLAG_INVALID
 */
export function levelOf({ logLevel, v }: { readonly logLevel?: Level | undefined; readonly v: string }): Level {
  const number = v.replace(/^=/, "");
  if (!/^\d{0,9}$/.test(number)) throw new InputError("FLAG_INVALID", `-v must be a whole number, and is "${number}".`);
  const verbosity = Number(number);
  return logLevel ?? (verbosity >= 4 ? "debug" : verbosity >= 1 ? "info" : "warn");
}
