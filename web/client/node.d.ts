import type { Storage } from './client.js';
/** Files of a directory, for node: one for each learner and person. */
export function fileStorage(directory: string): Storage;
