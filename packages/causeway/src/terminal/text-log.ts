import { styleText } from "node:util";
import { createLog, silentLog, type Log, type LogLevel } from "@causeway/foundation";

/** The log of a command on standard error: text on a terminal, JSON lines elsewhere, nothing at level "silent". */
export function commandLog(level: LogLevel, stream: NodeJS.WriteStream = process.stderr): Log {
  if (level === "silent") return silentLog;
  if (!stream.isTTY) return createLog({ level });
  return createLog({ level, destination: { write: (line) => void stream.write(textOf(line, stream)) } });
}

/** A line of the log as a person reads it: `15:04:05 warn  message  name=value`. */
export function textOf(line: string, stream?: NodeJS.WriteStream): string {
  const parsed = parse(line);
  if (!parsed) return line;
  const { level, time, msg, ...fields } = parsed;
  const shown = Object.entries(fields).map(([name, value]) => `${name}=${textOfValue(value)}`);
  const at = textOfField(time).slice(11, 19);
  const color = level === "error" ? "red" : "yellow";
  const label = textOfField(level).padEnd(5);
  const styled = stream && (level === "error" || level === "warn") ? styleText(color, label, { stream }) : label;
  return `${[at, styled, textOfField(msg), ...shown].join(" ")}\n`;
}

function textOfField(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function textOfValue(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return /^[^\s="]+$/.test(text) ? text : JSON.stringify(text);
}

function parse(line: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const parsed: unknown = JSON.parse(line);
    return typeof parsed === "object" && parsed !== null ? (parsed as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
