import { Option } from "@commander-js/extra-typings";

/** The levels of the log, the most talkative first. */
export const LOG_LEVELS = ["debug", "info", "warn", "error", "silent"] as const;

/** `--log-level`, with this level unless the user gives another. */
export function logLevelOption(level: (typeof LOG_LEVELS)[number] = "warn") {
  return new Option("--log-level <level>", "what to log on standard error: text on a terminal, JSON lines elsewhere")
    .choices(LOG_LEVELS)
    .default(level);
}

type Level = (typeof LOG_LEVELS)[number];

/** --log-level, else -v as Go's programs have it: "-v=4", which is read as "=4", is level 4. */
export function levelOf({ logLevel, v }: { readonly logLevel?: Level | undefined; readonly v: string }): Level {
  const verbosity = Number(v.replace(/^=/, ""));
  return logLevel ?? (verbosity >= 4 ? "debug" : verbosity >= 1 ? "info" : "warn");
}
