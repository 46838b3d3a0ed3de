/* Where a device keeps what it has reported, and what it has still to send: one text for each learner and person.
 *
 * A storage has two functions. read(key) gives the text, or undefined if there is none. swap(key, before, after)
 * puts `after` in the place of `before` (undefined: nothing was there) and is true, or changes nothing and is false
 * because something else is there. When it has returned true, the text survives a crash. So two pages, or two
 * workers, that begin with the same text cannot both count one report where two are made. */
import { TacitError } from './core.js';

const DATABASE = 'tacit-client', STORE = 'devices';

const settled = (request) => new Promise((resolve, reject) => {
  request.onsuccess = () => resolve(request.result);
  request.onerror = () => reject(request.error);
});

const opened = (indexedDB) => new Promise((resolve, reject) => {
  const request = indexedDB.open(DATABASE, 1);
  request.onupgradeneeded = () => request.result.createObjectStore(STORE);
  request.onsuccess = () => resolve(request.result);
  request.onerror = () => reject(request.error);
  request.onblocked = () => reject(new Error('another page holds an older database'));
});

const failed = (e) => new TacitError('STORAGE', `the page's storage does not answer (${e?.message ?? e}); nothing has left the device`, { cause: e });

/** The page's own storage: IndexedDB, in windows and in workers. */
export function pageStorage(indexedDB = globalThis.indexedDB) {
  const transact = async (mode, f) => {
    let database;
    try {
      database = await opened(indexedDB);
      const transaction = database.transaction(STORE, mode, { durability: 'strict' });
      const done = new Promise((resolve, reject) => {
        transaction.oncomplete = () => resolve();
        transaction.onabort = () => reject(transaction.error ?? new Error('the transaction was given up'));
      });
      const result = await f(transaction.objectStore(STORE));
      await done;
      return result;
    } catch (e) {
      throw failed(e);
    } finally {
      database?.close();
    }
  };
  return {
    read: (key) => transact('readonly', (store) => settled(store.get(key))),
    swap: (key, before, after) => transact('readwrite', async (store) => {
      if ((await settled(store.get(key))) !== before) return false;
      await settled(store.put(after, key));
      return true;
    }),
  };
}

/** Forgets everything with the page: for simulations and tests. A person whose device forgets may report again. */
export function memoryStorage() {
  const kept = new Map();
  return {
    read: async (key) => kept.get(key),
    swap: async (key, before, after) => {
      if (kept.get(key) !== before) return false;
      kept.set(key, after);
      return true;
    },
  };
}
