/* A storage for node: a directory with a file for each learner and person. import { fileStorage } from 'tacit-client/node' */
import { createHash } from 'node:crypto';
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { TacitError } from './core.js';

const PATIENCE_MS = 10000; // for another process, whose swap takes milliseconds

/** Texts in the files of a directory. A text is written beside the old one, synced and renamed; a lock file, made
 * exclusively, keeps other processes out meanwhile. A lock that a crash has left is named in the error. */
export function fileStorage(directory) {
  const place = (key) => join(directory, createHash('sha256').update(key).digest('hex'));
  const read = async (key) => {
    try {
      return await readFile(place(key), 'utf8');
    } catch (e) {
      if (e.code === 'ENOENT') return undefined;
      throw new TacitError('STORAGE', `${place(key)} cannot be read (${e.message}); reports that were made cannot be counted, so no more are made`);
    }
  };
  const lock = async (path) => {
    for (const end = performance.now() + PATIENCE_MS; ;) {
      try {
        return await open(path, 'wx', 0o600);
      } catch (e) {
        if (e.code !== 'EEXIST') throw e;
        if (performance.now() > end) throw new TacitError('STORAGE', `${path} has been there for ${PATIENCE_MS / 1000} s; if no other process is running, a crash has left it: remove it`);
        await new Promise((resolve) => { setTimeout(resolve, 5); });
      }
    }
  };
  const sync = async (path, flags, text) => {
    const file = await open(path, flags, 0o600);
    try {
      if (text !== undefined) await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
  };
  const swap = async (key, before, after) => {
    const path = place(key);
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const held = await lock(`${path}.lock`);
    try {
      if ((await read(key)) !== before) return false;
      await sync(`${path}.new`, 'w', after);
      await rename(`${path}.new`, path);
      await sync(directory, 'r');
      return true;
    } finally {
      await held.close();
      await rm(`${path}.lock`);
    }
  };
  return { read, swap };
}
