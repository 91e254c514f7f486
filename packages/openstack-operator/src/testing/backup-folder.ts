/** What the tests of the programs of backups share: a folder of their own, and how a program runs in it. */
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const programs = join(import.meta.dirname, "../../programs");

export interface Ran {
  readonly status: number | null;
  readonly message: string;
  readonly stderr: string;
}

/** A folder with a target of backups, and the programs that write to it. */
export interface BackupFolder {
  readonly dir: string;
  /** Runs a program without blocking this process, which may be the server that it calls. */
  run(program: string, args: readonly string[], environment: Record<string, string>): Promise<Ran>;
  /** Writes files into a folder of this name, and returns its path. */
  folder(name: string, files: Record<string, string>): string;
  /** The environment of a program. */
  place(more?: Record<string, string>): Record<string, string>;
  remove(): void;
}

/** Makes one below the folder for temporary files. */
export function openBackupFolder(): BackupFolder {
  const dir = mkdtempSync(join(tmpdir(), "backup-"));
  return {
    dir,
    run(program, args, environment) {
      const log = join(dir, "termination");
      writeFileSync(log, "");
      const own = { PATH: process.env["PATH"] ?? "", PYTHONDONTWRITEBYTECODE: "1", TERMINATION_LOG: log };
      const env = { ...own, ...environment };
      const child = spawn("python3", [join(programs, program), ...args], { env, stdio: ["ignore", "ignore", "pipe"] });
      let stderr = "";
      child.stderr.on("data", (chunk) => (stderr += String(chunk)));
      return new Promise((done) =>
        child.on("close", (status) => done({ status, message: readFileSync(log, "utf8"), stderr })),
      );
    },
    folder(name, files) {
      const path = join(dir, name);
      mkdirSync(path, { recursive: true });
      for (const [file, text] of Object.entries(files)) writeFileSync(join(path, file), text);
      return path;
    },
    place: (more = {}) => ({
      BACKUP_TARGET: `file://${join(dir, "target")}`,
      BACKUP_OF: "cloud",
      BACKUP_RUN: "20260101t020000z",
      BACKUP_KEEP: "2",
      BACKUP_RELEASE: "2025.1",
      ...more,
    }),
    remove: () => rmSync(dir, { recursive: true, force: true }),
  };
}
