/** For tests of this package and of those above it. */
export { startRecordingDriver, type RecordedCall, type RecordingDriver } from "./testing/recording-driver.ts";
