import type { OpenStackRelease, OpenStackService } from "@causeway/api";
import type { Sections } from "./sections.ts";

/** The file is in the folder of a service, and does not end with .conf: oslo.config reads all those as options. */
export const LOGGING_FILE = "logging.ini";

/**
 * Before 2025.1 oslo.log ends each line for the standard error with a colour code, whatever its form: JSON with that is
 * no JSON.
 */
export const needsLoggingFile = (release: OpenStackRelease): boolean => release < "2025.1";

/** The options with the file, where the release needs one and the administrator gives no other. */
export function withLoggingFile(release: OpenStackRelease, service: OpenStackService, open: Sections): Sections {
  if (!needsLoggingFile(release)) return open;
  const log_config_append = `/etc/${service}/${service}.conf.d/${LOGGING_FILE}`;
  return { ...open, DEFAULT: { log_config_append, ...open["DEFAULT"] } };
}

/**
 * Python's own configuration of loggers with the levels of the options, which oslo.log does not read in addition to it.
 */
export function loggingFile({ DEFAULT = {} }: Sections): string {
  const debug = /^(?:true|1|yes|on)$/i.test(DEFAULT["debug"] ?? "");
  const levels = (DEFAULT["default_log_levels"] ?? "")
    .split(",")
    .map((pair) => pair.split("=").map((part) => part.trim()))
    .filter(([name, level]) => name && level);
  const loggers = levels.flatMap(([name = "", level = ""], index) => [
    `[logger_l${index}]`,
    `level = ${level === "WARN" ? "WARNING" : level}`,
    "handlers =",
    `qualname = ${name}`,
  ]);
  return [
    "[loggers]",
    `keys = ${["root", ...levels.map((_, index) => `l${index}`)].join(",")}`,
    "[handlers]",
    "keys = stderr",
    "[formatters]",
    "keys = json",
    "[logger_root]",
    `level = ${debug ? "DEBUG" : "INFO"}`,
    "handlers = stderr",
    ...loggers,
    "[handler_stderr]",
    "class = StreamHandler",
    "args = (sys.stderr,)",
    "formatter = json",
    "[formatter_json]",
    "class = oslo_log.formatters.JSONFormatter",
    "",
  ].join("\n");
}
