/** Programs as children of the test: never waited for in a way that holds up a server in this process. */
import { type ChildProcess } from "node:child_process";
export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}
export interface RunOptions {
  readonly env?: NodeJS.ProcessEnv;
  readonly input?: string;
  /** Milliseconds after which it is killed; 60 s unless given. */
  readonly timeout?: number;
}
/** Runs a program to its end. */
export declare function execute(file: string, args: readonly string[], options?: RunOptions): Promise<Ended>;
/** A program that goes on beside the test. */
export interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  /** All it has printed so far, both streams. */
  output(): string;
  /** Resolves with the output when it matches; rejects when the program has ended or the time (ms) is up. */
  until(pattern: RegExp, milliseconds?: number): Promise<string>;
  write(text: string): void;
  stop(): Promise<void>;
}
export declare function launch(file: string, args: readonly string[], options?: RunOptions): Running;
