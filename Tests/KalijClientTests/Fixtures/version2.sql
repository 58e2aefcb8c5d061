-- A database of schema version 2, dumped from the directory that `kalij demo --kills 2 --messages 6 --seed 5 --keep` left.
-- Never changed: later versions must open it.
PRAGMA application_id=1264675945;
PRAGMA user_version=2;
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE fence(id INTEGER PRIMARY KEY CHECK (id = 1), number INTEGER NOT NULL,
    role TEXT NOT NULL, pid INTEGER NOT NULL, since INTEGER NOT NULL, let_go INTEGER NOT NULL);
INSERT INTO fence VALUES(1,6,'main',14463,1795372709359,1);
CREATE TABLE account(
    id INTEGER PRIMARY KEY,
    jid TEXT NOT NULL UNIQUE,
    resource TEXT NOT NULL,
    server TEXT,                    -- HOST:PORT given by the user instead of SRV records
    direct_tls INTEGER NOT NULL,
    ca_file TEXT,
    mechanism TEXT NOT NULL,        -- SASL mechanism of the login; nothing weaker is accepted later
    keys BLOB,                      -- SCRAM keys (CBOR), or
    password TEXT,                  -- the password, where the mechanism needs it
    created_at INTEGER NOT NULL,
    state TEXT NOT NULL DEFAULT 'active', -- 'leaving', 'removing': not yet done; 'out': logged out
    history_days INTEGER NOT NULL DEFAULT 14);
INSERT INTO account VALUES(1,'alice@localhost','kalij.qc6uti','127.0.0.1:27913',0,'/tmp/lead/kalij-lab-PF3YWs/prosody/certs/localhost.crt','SCRAM-SHA-1',X'a56473616c747830597a597a59325a69596d51744d546b30596930304d544d774c5467784d6a41744e47526a4e546869596a49784e7a4a6869636c69656e744b6579781c5134546469545030555a6b65316d6f52777672494b47343138634d3d696d656368616e69736d6b534352414d2d5348412d31697365727665724b6579781c6c786d6432576e6464766d45466f396e72385939773638494448383d6a697465726174696f6e73192710',NULL,1795372707731,'active',14);
CREATE TABLE session(
    account INTEGER PRIMARY KEY REFERENCES account(id) ON DELETE CASCADE,
    number INTEGER NOT NULL,        -- grows with each bind
    carbons INTEGER NOT NULL DEFAULT 0, -- whether the server copies what other clients of the account see
    resume_id TEXT,                 -- NULL: nothing to resume
    jid TEXT,                       -- the full address that the server bound
    handled INTEGER NOT NULL,       -- inbound stanzas handled, modulo 2^32
    acknowledged INTEGER NOT NULL,  -- outbound stanzas acknowledged by the server, modulo 2^32
    position INTEGER NOT NULL,      -- the last order number given to a message
    holding INTEGER NOT NULL DEFAULT 0, -- whether queued messages wait until the archive has been read
    archive INTEGER NOT NULL,       -- whether the server archives this account's messages (XEP-0313)
    online_at INTEGER,
    stamps INTEGER NOT NULL DEFAULT 0, largest_stanza INTEGER, subscribers INTEGER NOT NULL DEFAULT 0, messages INTEGER NOT NULL DEFAULT 0);
INSERT INTO session VALUES(1,1,1,'14XqozGUHncS','alice@localhost/kalij.qc6uti',154,24,156,0,1,1795372709404,1,NULL,0,77);
CREATE TABLE queue(
    -- Never given twice: a connection knows what it has written by the last id.
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
    message INTEGER REFERENCES message(id),
    request TEXT,                   -- the id of the request that it asks
    stanza BLOB NOT NULL,
    lasting INTEGER NOT NULL DEFAULT 0, blamed INTEGER NOT NULL DEFAULT 0);
CREATE TABLE message(
    id INTEGER PRIMARY KEY,
    account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
    direction TEXT NOT NULL,        -- 'in' or 'out'
    conversation TEXT NOT NULL,     -- the bare address of the other side
    position INTEGER NOT NULL,      -- the order in which messages are shown
    archive TEXT NOT NULL,          -- whose archive stanza_id belongs to; '' is the account's own
    stanza_id TEXT,
    message_id TEXT NOT NULL,       -- the stanza's id, '' if it had none
    origin_id TEXT,
    sender TEXT NOT NULL,
    recipient TEXT NOT NULL,
    type TEXT NOT NULL,
    body TEXT,
    sent_at INTEGER NOT NULL,
    received_at INTEGER,
    state TEXT,                     -- of 'out': 'queued', 'sent', 'acked', 'failed'
    error TEXT,
    anchor TEXT,                    -- newest known archive id when the bytes first left
    settled INTEGER NOT NULL DEFAULT 1,  -- 0: sent in a session that was lost, outcome unknown
    catchup INTEGER NOT NULL DEFAULT 0);
INSERT INTO message VALUES(1,1,'out','bob@localhost',13,'','ed6b5050-ecda-48c8-982e-0fcc9ccd1d4c','d4355056-25c2-4841-be38-2616fb82f202','d4355056-25c2-4841-be38-2616fb82f202','alice@localhost','bob@localhost','chat','r 1',1795372708000,NULL,'acked',NULL,NULL,1,2);
INSERT INTO message VALUES(2,1,'in','bob@localhost',2,'','e8bda823-eea1-4b25-bf5a-1a514a6579bb','dfdc08895b6844e0aac60ed7d62fe2ad',NULL,'bob@localhost/KvzrdKIV_ElA','alice@localhost','chat','m 1',1795372708000,1795372708430,NULL,NULL,NULL,1,2);
INSERT INTO message VALUES(3,1,'in','bob@localhost',3,'','65aea89a-e78c-45f1-8b77-e8ea6318490a','5072941df16e4a82986b4d13a1a3a453',NULL,'bob@localhost/KvzrdKIV_ElA','alice@localhost','chat','m 2',1795372708000,1795372708430,NULL,NULL,NULL,1,2);
INSERT INTO message VALUES(4,1,'in','bob@localhost',4,'','1309e48b-2273-49ad-8181-09450f869f79','3d1539d9469f462db468136f63595e1a',NULL,'bob@localhost/KvzrdKIV_ElA','alice@localhost','chat','m 3',1795372708000,1795372708430,NULL,NULL,NULL,1,2);
INSERT INTO message VALUES(5,1,'in','bob@localhost',5,'','a2842fca-1d20-4e2b-a492-45548eb7065d','9f2a05c5068b44c6b5b46b852f442a38',NULL,'bob@localhost/KvzrdKIV_ElA','alice@localhost','chat','m 4',1795372708000,1795372708430,NULL,NULL,NULL,1,2);
INSERT INTO message VALUES(6,1,'in','bob@localhost',6,'','1e74f73f-b228-432b-99be-2530eed98396','9fcd2f7eb83d467ba1ece06e14f774f3',NULL,'bob@localhost/KvzrdKIV_ElA','alice@localhost','chat','m 5',1795372708000,1795372708430,NULL,NULL,NULL,1,2);
INSERT INTO message VALUES(7,1,'in','bob@localhost',7,'','3eb32671-2490-484a-afe2-afc7eff556ea','e65d6954749244a492b899d2e42275fd',NULL,'bob@localhost/KvzrdKIV_ElA','alice@localhost','chat','m 6',1795372708000,1795372708430,NULL,NULL,NULL,1,2);
INSERT INTO message VALUES(8,1,'in','bob@localhost',8,'','82df155a-3c83-4529-acec-8434184942f1','287820af95bb402cba51fe1291edf428',NULL,'bob@localhost/KvzrdKIV_ElA','alice@localhost','chat','m 7',1795372708000,1795372708430,NULL,NULL,NULL,1,2);
INSERT INTO message VALUES(9,1,'in','bob@localhost',9,'','cd3bb0ff-c4dd-44b3-ae4a-7fda125e2904','babf174e43fe48d2ab77abc6d9ca3e43',NULL,'bob@localhost/KvzrdKIV_ElA','alice@localhost','chat','m 8',1795372708000,1795372708430,NULL,NULL,NULL,1,2);
INSERT INTO message VALUES(10,1,'in','bob@localhost',10,'','5a8a4dd5-8a77-47e3-813c-218232ce6528','a7bd7f684f8c4a2abc6dc7effcba1e04',NULL,'bob@localhost/KvzrdKIV_ElA','alice@localhost','chat','m 9',1795372708000,1795372708455,NULL,NULL,NULL,1,2);
INSERT INTO message VALUES(11,1,'in','bob@localhost',11,'','139bb556-e217-41d9-af66-914b28759d84','b78b8e9c8d1e4712b51451fda85b698e',NULL,'bob@localhost/KvzrdKIV_ElA','alice@localhost','chat','m 10',1795372708000,1795372708455,NULL,NULL,NULL,1,2);
INSERT INTO message VALUES(12,1,'in','bob@localhost',12,'','61654662-11bc-47f7-a56c-f2e7740fd5ea','9b32bbe973f24bc7bef63f7919d0b7d6',NULL,'bob@localhost/KvzrdKIV_ElA','alice@localhost','chat','m 11',1795372708000,1795372708455,NULL,NULL,NULL,1,2);
INSERT INTO message VALUES(13,1,'in','bob@localhost',14,'','02f5e321-822e-47f0-9aab-6936468b0fac','b242831c70c54bee94e84ae747b74b62',NULL,'bob@localhost/KvzrdKIV_ElA','alice@localhost','chat','m 12',1795372708000,1795372708457,NULL,NULL,NULL,1,2);
INSERT INTO message VALUES(14,1,'in','bob@localhost',15,'','edad3446-3314-40b4-bf1b-0ac25a7aacf4','48a23c5199c9476f9ff47fdbae2a48bd',NULL,'bob@localhost/KvzrdKIV_ElA','alice@localhost','chat','m 13',1795372708000,1795372708467,NULL,NULL,NULL,1,2);
INSERT INTO message VALUES(15,1,'out','bob@localhost',94,'','d0551f40-d18e-48af-8e6c-02d5016b1649','c6cb918b-1bc3-4f0c-b6da-65df6881cb3e','c6cb918b-1bc3-4f0c-b6da-65df6881cb3e','alice@localhost','bob@localhost','chat','r 2',1795372708000,NULL,'acked',NULL,'edad3446-3314-40b4-bf1b-0ac25a7aacf4',1,2);
INSERT INTO message VALUES(16,1,'in','bob@localhost',17,'','a5610225-df62-4fa2-be34-0ad9c5a7cb6e','ac15f6f8db7f43939eb9867e7b15be19',NULL,'bob@localhost/KvzrdKIV_ElA','alice@localhost','chat','m 14',1795372708000,1795372708498,NULL,NULL,NULL,1,2);
INSERT INTO message VALUES(17,1,'in','bob@localhost',95,'','ad984dc8-1cd9-4d6a-8b9a-a316174ba265','07da2ee0997645a1bc86af17827d20be',NULL,'bob@localhost/KvzrdKIV_ElA','alice@localhost','chat','m 15',1795372708000,1795372708514,NULL,NULL,NULL,1,2);
INSERT INTO message VALUES(18,1,'out','bob@localhost',97,'','d9786121-4b49-469c-ae70-6c4965f8fed3','44ba172b-6b4a-47d4-aad1-d3bbbec14a33','44ba172b-6b4a-47d4-aad1-d3bbbec14a33','alice@localhost','bob@localhost','chat','r 3',1795372708000,NULL,'acked',NULL,'ad984dc8-1cd9-4d6a-8b9a-a316174ba265',1,2);
INSERT INTO message VALUES(19,1,'in','bob@localhost',96,'','5b81ec0b-862f-4f31-a8ea-d2678fffc5c0','d66f220f167b4a8f81c1a864f7adfd89',NULL,'bob@localhost/KvzrdKIV_ElA','alice@localhost','chat','m 16',1795372708000,1795372708546,NULL,NULL,NULL,1,2);
INSERT INTO message VALUES(20,1,'in','bob@localhost',98,'','e31e4095-490a-44be-a84c-0c6914d92baa','1d4fdd5da99d489496d01a4f56dc90d5',NULL,'bob@localhost/KvzrdKIV_ElA','alice@localhost','chat','m 17',1795372708000,1795372708546,NULL,NULL,NULL,1,2);
INSERT INTO message VALUES(21,1,'out','bob@localhost',100,'','593b19b5-1187-46ea-8377-5653bea80fb0','28f960e8-e9d4-436d-afa3-e0f5a4c56514','28f960e8-e9d4-436d-afa3-e0f5a4c56514','alice@localhost','bob@localhost','chat','r 4',1795372708000,NULL,'acked',NULL,'e31e4095-490a-44be-a84c-0c6914d92baa',1,2);
INSERT INTO message VALUES(22,1,'in','bob@localhost',99,'','1a6ac838-fb99-4416-9271-c71fa0e9f999','f213c8fc3b40440c9c8ce41a4c4e2285',NULL,'bob@localhost/KvzrdKIV_ElA','alice@localhost','chat','m 18',1795372708000,1795372708587,NULL,NULL,NULL,1,2);
INSERT INTO message VALUES(23,1,'in','bob@localhost',101,'','29235195-bfda-41cb-bdcc-7dd235976015','897810e0ff2b494eb70cba06c66c3379',NULL,'bob@localhost/KvzrdKIV_ElA','alice@localhost','chat','m 19',1795372708000,1795372708603,NULL,NULL,NULL,1,2);
INSERT INTO message VALUES(24,1,'in','bob@localhost',102,'','880a3585-0a29-4116-9516-8d304fd6df31','7a60daad90a24c9cb5642109eee80882',NULL,'bob@localhost/KvzrdKIV_ElA','alice@localhost','chat','m 20',1795372708000,1795372708603,NULL,NULL,NULL,1,2);
INSERT INTO message VALUES(25,1,'out','bob@localhost',104,'','9573e9a3-62fb-45be-8c82-04d3f1d3761a','73b7a764-ae89-40a9-b089-5c6d6f808b65','73b7a764-ae89-40a9-b089-5c6d6f808b65','alice@localhost','bob@localhost','chat','r 5',1795372708000,NULL,'acked',NULL,'880a3585-0a29-4116-9516-8d304fd6df31',1,2);
INSERT INTO message VALUES(26,1,'out','bob@localhost',149,'','74420e40-0486-4d7b-8ddf-e19ee241f0d7','d381fb81-4041-4753-badd-3d119d2dab1f','d381fb81-4041-4753-badd-3d119d2dab1f','alice@localhost','bob@localhost','chat','r 6',1795372709000,NULL,'acked',NULL,'2a5a804e-1600-4ad2-930d-5422a29e6d1b',1,2);
INSERT INTO message VALUES(27,1,'out','bob@localhost',150,'','3acede8b-803b-4b78-9b70-16fb5f947827','7b6102af-84a2-4c32-b5fb-7ccb80b2664c','7b6102af-84a2-4c32-b5fb-7ccb80b2664c','alice@localhost','bob@localhost','chat','r 7',1795372709000,NULL,'acked',NULL,'2a5a804e-1600-4ad2-930d-5422a29e6d1b',1,2);
INSERT INTO message VALUES(28,1,'out','bob@localhost',151,'','373dbe60-8a34-401e-b538-6d001c89e026','9537ae22-71c1-4917-8018-72c8d0904160','9537ae22-71c1-4917-8018-72c8d0904160','alice@localhost','bob@localhost','chat','r 8',1795372709000,NULL,'acked',NULL,'2a5a804e-1600-4ad2-930d-5422a29e6d1b',1,2);
INSERT INTO message VALUES(29,1,'out','bob@localhost',152,'','76ffd61d-faf5-43f7-a95e-344a5da19f32','b2280b24-b501-429b-b816-e4b4a6bce80e','b2280b24-b501-429b-b816-e4b4a6bce80e','alice@localhost','bob@localhost','chat','r 9',1795372709000,NULL,'acked',NULL,'2a5a804e-1600-4ad2-930d-5422a29e6d1b',1,2);
INSERT INTO message VALUES(30,1,'out','bob@localhost',153,'','3d788c2d-81e7-4f51-acfd-73e20bd6922e','cdc993f6-effa-4380-86c1-81aeadfe5190','cdc993f6-effa-4380-86c1-81aeadfe5190','alice@localhost','bob@localhost','chat','r 10',1795372709000,NULL,'acked',NULL,'2a5a804e-1600-4ad2-930d-5422a29e6d1b',1,2);
INSERT INTO message VALUES(31,1,'out','bob@localhost',154,'','f3fa9c3b-e123-4f11-bb76-c74d34960097','15c7b306-74b7-4c45-83b7-2ce7d7d9596d','15c7b306-74b7-4c45-83b7-2ce7d7d9596d','alice@localhost','bob@localhost','chat','r 11',1795372709000,NULL,'acked',NULL,'2a5a804e-1600-4ad2-930d-5422a29e6d1b',1,2);
INSERT INTO message VALUES(32,1,'out','bob@localhost',155,'','6bd2b0eb-d1b6-498e-8abc-f113da59b222','6bd5334a-45b3-4505-9586-2b1ad0a89d1d','6bd5334a-45b3-4505-9586-2b1ad0a89d1d','alice@localhost','bob@localhost','chat','r 12',1795372709000,NULL,'acked',NULL,'2a5a804e-1600-4ad2-930d-5422a29e6d1b',1,2);
INSERT INTO message VALUES(33,1,'out','bob@localhost',156,'','e756be0b-a7b2-480e-a816-a06457a430f1','878b29d8-982a-423d-aecf-5e9ace95f9ad','878b29d8-982a-423d-aecf-5e9ace95f9ad','alice@localhost','bob@localhost','chat','r 13',1795372709000,NULL,'acked',NULL,'2a5a804e-1600-4ad2-930d-5422a29e6d1b',1,2);
INSERT INTO message VALUES(34,1,'in','bob@localhost',103,'','d148bd0e-266a-4992-9c37-26c9462a2eda','b22f14280f8f47b4a55e99c1a7d475ad',NULL,'bob@localhost/KvzrdKIV_ElA','alice@localhost','chat','m 21',1795372708000,1795372709407,NULL,NULL,NULL,1,2);
INSERT INTO message VALUES(35,1,'in','bob@localhost',105,'','627a755d-907b-4b09-910a-ab8f9b8c00e1','bc67c5abb08245809095de7ced24dfde',NULL,'bob@localhost/KvzrdKIV_ElA','alice@localhost','chat','m 22',1795372708000,1795372709408,NULL,NULL,NULL,1,2);
INSERT INTO message VALUES(36,1,'in','bob@localhost',106,'','06ce14b6-4605-4916-a30a-5fba3c26259b','4bd6e58848554ec89c0aa06305e923cb',NULL,'bob@localhost/KvzrdKIV_ElA','alice@localhost','chat','m 23',1795372708000,1795372709408,NULL,NULL,NULL,1,2);
INSERT INTO message VALUES(37,1,'in','bob@localhost',107,'','34bc9972-7133-4ff8-a3fa-bfc79c60ae2d','c634449f1d2f4e6a912ddba91ad34625',NULL,'bob@localhost/KvzrdKIV_ElA','alice@localhost','chat','m 24',1795372708000,1795372709409,NULL,NULL,NULL,1,2);
INSERT INTO message VALUES(38,1,'in','bob@localhost',108,'','e6dac07d-4e00-4516-881e-21f6a0a0a75b','e55063b1bf35423487d6289ece56c039',NULL,'bob@localhost/KvzrdKIV_ElA','alice@localhost','chat','m 25',1795372708000,1795372709409,NULL,NULL,NULL,1,2);
INSERT INTO message VALUES(39,1,'in','bob@localhost',109,'','d1e0ae1c-eee2-429e-a37e-2c6059d682a8','5b429e6462cf4e8cb53c03d6d2d9057f',NULL,'bob@localhost/KvzrdKIV_ElA','alice@localhost','chat','m 26',1795372708000,1795372709409,NULL,NULL,NULL,1,2);
INSERT INTO message VALUES(40,1,'in','bob@localhost',110,'','ebebc684-e298-4c29-b992-48745d69c7f4','49735f07e7604d5693579e3f5d204480',NULL,'bob@localhost/KvzrdKIV_ElA','alice@localhost','chat','m 27',1795372708000,1795372709409,NULL,NULL,NULL,1,2);
INSERT INTO message VALUES(41,1,'in','bob@localhost',111,'','71bde964-7410-4f01-b64d-54cf3e40b9cc','f447eab83ce1403b91d41623582f26fc',NULL,'bob@localhost/KvzrdKIV_ElA','alice@localhost','chat','m 28',1795372708000,1795372709409,NULL,NULL,NULL,1,2);
INSERT INTO message VALUES(42,1,'in','bob@localhost',112,'','01f7bef5-0f34-495e-b763-ddfd497537ae','e2d75b0e8b534b0da20ad37bb5d1d914',NULL,'bob@localhost/KvzrdKIV_ElA','alice@localhost','chat','m 29',1795372708000,1795372709409,NULL,NULL,NULL,1,2);
INSERT INTO message VALUES(43,1,'in','bob@localhost',113,'','0d3b82c4-1e22-477b-9421-fd9b820837b0','3908a802d46142e9ad9e34a7f8df95aa',NULL,'bob@localhost/KvzrdKIV_ElA','alice@localhost','chat','m 30',1795372708000,1795372709409,NULL,NULL,NULL,1,2);
INSERT INTO message VALUES(44,1,'in','bob@localhost',114,'','dbd2c260-db37-4de5-bcb1-07b7ed018d6b','df87ebc67602419bbad6354480edb518',NULL,'bob@localhost/KvzrdKIV_ElA','alice@localhost','chat','m 31',1795372708000,1795372709409,NULL,NULL,NULL,1,2);
INSERT INTO message VALUES(45,1,'in','bob@localhost',115,'','2cfab95b-c245-4e3a-8217-8c70317b24fc','bfd9e413deaf4a64b7e26418fa361b20',NULL,'bob@localhost/KvzrdKIV_ElA','alice@localhost','chat','m 32',1795372708000,1795372709409,NULL,NULL,NULL,1,2);
INSERT INTO message VALUES(46,1,'in','bob@localhost',116,'','627671f1-a628-43c9-a9e4-a762eec91fff','c4585c6395fd448c80c24d42e82b6793',NULL,'bob@localhost/KvzrdKIV_ElA','alice@localhost','chat','m 33',1795372708000,1795372709410,NULL,NULL,NULL,1,2);
INSERT INTO message VALUES(47,1,'in','bob@localhost',117,'','2a19d44a-905f-46fc-8d55-7619605a2bcf','2ae5fc992e6e46c8bc08b448ae0d50bc',NULL,'bob@localhost/KvzrdKIV_ElA','alice@localhost','chat','m 34',1795372708000,1795372709411,NULL,NULL,NULL,1,2);
INSERT INTO message VALUES(48,1,'in','bob@localhost',118,'','fc1cd007-6199-4016-80a3-ac02d55ebc5a','d75dad94725e47e3b3e185698d355590',NULL,'bob@localhost/KvzrdKIV_ElA','alice@localhost','chat','m 35',1795372708000,1795372709411,NULL,NULL,NULL,1,2);
INSERT INTO message VALUES(49,1,'in','bob@localhost',119,'','13c8e09a-60fb-4cf3-bb49-f7cdb49b8964','91d41e4a1f71429c8667c236a801af76',NULL,'bob@localhost/KvzrdKIV_ElA','alice@localhost','chat','m 36',1795372708000,1795372709411,NULL,NULL,NULL,1,2);
INSERT INTO message VALUES(50,1,'in','bob@localhost',120,'','5079618d-9e74-4f76-9051-4a821129f0ea','ea4c48721f9d4fc1a145c6dd79154d77',NULL,'bob@localhost/KvzrdKIV_ElA','alice@localhost','chat','m 37',1795372708000,1795372709411,NULL,NULL,NULL,1,2);
INSERT INTO message VALUES(51,1,'in','bob@localhost',121,'','57c60594-3faf-4a31-9466-2fc299dbce46','903007e2d7254811b581ef6d05f929ac',NULL,'bob@localhost/KvzrdKIV_ElA','alice@localhost','chat','m 38',1795372708000,1795372709411,NULL,NULL,NULL,1,2);
INSERT INTO message VALUES(52,1,'in','bob@localhost',122,'','0cba95f3-5a90-467d-a950-9f9256a88cae','9a960d8b98b54377b01387a8a01e6670',NULL,'bob@localhost/KvzrdKIV_ElA','alice@localhost','chat','m 39',1795372709000,1795372709411,NULL,NULL,NULL,1,2);
INSERT INTO message VALUES(53,1,'in','bob@localhost',123,'','313f69f3-8b68-4292-9c87-25094ab6b091','4716de499f0d444b9851bad55f8f0eb9',NULL,'bob@localhost/KvzrdKIV_ElA','alice@localhost','chat','m 40',1795372709000,1795372709411,NULL,NULL,NULL,1,2);
INSERT INTO message VALUES(54,1,'in','bob@localhost',124,'','8b44a013-39bc-4830-8537-5c874ccc8c82','4f62a899a766443fa5f434f3009bb4ba',NULL,'bob@localhost/KvzrdKIV_ElA','alice@localhost','chat','m 41',1795372709000,1795372709411,NULL,NULL,NULL,1,2);
INSERT INTO message VALUES(55,1,'in','bob@localhost',125,'','a3bcd8dc-e989-4761-8d84-5a050314ed7c','5088e11c812f4a88b08e769c3470c3f8',NULL,'bob@localhost/KvzrdKIV_ElA','alice@localhost','chat','m 42',1795372709000,1795372709411,NULL,NULL,NULL,1,2);
INSERT INTO message VALUES(56,1,'in','bob@localhost',126,'','e5fba33d-bd92-4fdd-8f62-1efb253dfa4b','d57b342de90e47d78754fe11ce75bb8b',NULL,'bob@localhost/KvzrdKIV_ElA','alice@localhost','chat','m 43',1795372709000,1795372709411,NULL,NULL,NULL,1,2);
INSERT INTO message VALUES(57,1,'in','bob@localhost',127,'','2a5a804e-1600-4ad2-930d-5422a29e6d1b','91d8733a264c400896726977cff9cd29',NULL,'bob@localhost/KvzrdKIV_ElA','alice@localhost','chat','m 44',1795372709000,1795372709413,NULL,NULL,NULL,1,2);
INSERT INTO message VALUES(58,1,'in','bob@localhost',129,'','8587f942-8a3f-4a9d-805f-819489383544','6319b7b08ba449239aa6bae66fcf6487',NULL,'bob@localhost/KvzrdKIV_ElA','alice@localhost','chat','m 45',1795372709000,1795372709417,NULL,NULL,NULL,1,2);
INSERT INTO message VALUES(59,1,'in','bob@localhost',130,'','befc2a23-626c-421e-bba3-a9d8c5512ac5','08b362897ad74a4ba39387d89aa85e21',NULL,'bob@localhost/KvzrdKIV_ElA','alice@localhost','chat','m 46',1795372709000,1795372709417,NULL,NULL,NULL,1,2);
INSERT INTO message VALUES(60,1,'in','bob@localhost',131,'','d8467c6f-064c-42b5-988a-2a66414061d8','f4804def4cb84c399ca79f81c333f1a9',NULL,'bob@localhost/KvzrdKIV_ElA','alice@localhost','chat','m 47',1795372709000,1795372709417,NULL,NULL,NULL,1,2);
INSERT INTO message VALUES(61,1,'in','bob@localhost',132,'','b4fef470-c04b-4c74-9e97-e42d3e1a6aaa','c35c1f0fa80344439ef6b1ba7515bf01',NULL,'bob@localhost/KvzrdKIV_ElA','alice@localhost','chat','m 48',1795372709000,1795372709417,NULL,NULL,NULL,1,2);
INSERT INTO message VALUES(62,1,'in','bob@localhost',133,'','a6a8a7fd-b3dc-4721-af6d-0eddc4be2452','67a3f8f9f4c048d0a1ce99bfcef85387',NULL,'bob@localhost/KvzrdKIV_ElA','alice@localhost','chat','m 49',1795372709000,1795372709417,NULL,NULL,NULL,1,2);
INSERT INTO message VALUES(63,1,'in','bob@localhost',134,'','afb8b187-5dd2-4ec1-b7f6-0b940832d4ea','0c20379df7db422aa4c9a29f078a98bf',NULL,'bob@localhost/KvzrdKIV_ElA','alice@localhost','chat','m 50',1795372709000,1795372709418,NULL,NULL,NULL,1,2);
INSERT INTO message VALUES(64,1,'in','bob@localhost',135,'','f1bff3b1-64ec-4eed-be32-ea73ec11e4d7','e8c708ac8a5b4457b854b120a19e299a',NULL,'bob@localhost/KvzrdKIV_ElA','alice@localhost','chat','m 51',1795372709000,1795372709418,NULL,NULL,NULL,1,2);
INSERT INTO message VALUES(65,1,'in','bob@localhost',136,'','6534bc7d-13eb-4612-9d2c-c6a84dfafff6','0dcb1d7a5eb04c078a5707715f70cbc7',NULL,'bob@localhost/KvzrdKIV_ElA','alice@localhost','chat','m 52',1795372709000,1795372709418,NULL,NULL,NULL,1,2);
INSERT INTO message VALUES(66,1,'in','bob@localhost',137,'','77fd6233-cb60-48a3-99a5-aff94e41ecbe','b8a46afac9584b19af412a0a055ad2f5',NULL,'bob@localhost/KvzrdKIV_ElA','alice@localhost','chat','m 53',1795372709000,1795372709419,NULL,NULL,NULL,1,2);
INSERT INTO message VALUES(67,1,'in','bob@localhost',138,'','470ee3c2-1b2a-43b3-b7a8-482ddb6d3cfc','4ff620984b2a482aa89c29bd2765bcd1',NULL,'bob@localhost/KvzrdKIV_ElA','alice@localhost','chat','m 54',1795372709000,1795372709419,NULL,NULL,NULL,1,2);
INSERT INTO message VALUES(68,1,'in','bob@localhost',139,'','00d53b7d-34b6-4fdd-b28b-cddbbb259157','e7aa4e5854f342f38c5b69db02d0c1fa',NULL,'bob@localhost/KvzrdKIV_ElA','alice@localhost','chat','m 55',1795372709000,1795372709419,NULL,NULL,NULL,1,2);
INSERT INTO message VALUES(69,1,'in','bob@localhost',140,'','7adbbb8b-7e5d-4a33-af07-12ae8bc94f58','1ee1e037d9be479c93195f08a46966c3',NULL,'bob@localhost/KvzrdKIV_ElA','alice@localhost','chat','m 56',1795372709000,1795372709419,NULL,NULL,NULL,1,2);
INSERT INTO message VALUES(70,1,'in','bob@localhost',141,'','66d123c7-c33d-4cea-ae29-13f19a7a0dd3','0a4ee1616e154337bc1b716eb81d33b2',NULL,'bob@localhost/KvzrdKIV_ElA','alice@localhost','chat','m 57',1795372709000,1795372709419,NULL,NULL,NULL,1,2);
INSERT INTO message VALUES(71,1,'in','bob@localhost',142,'','811ac960-a35b-4f44-8cc8-930cb612ef87','a3bf119bac794895838515492e6b2595',NULL,'bob@localhost/KvzrdKIV_ElA','alice@localhost','chat','m 58',1795372709000,1795372709419,NULL,NULL,NULL,1,2);
INSERT INTO message VALUES(72,1,'in','bob@localhost',143,'','3db578fc-f091-451b-8af5-db857884fe40','0783f944b67e42a193a8e7ccb839fa3d',NULL,'bob@localhost/KvzrdKIV_ElA','alice@localhost','chat','m 59',1795372709000,1795372709419,NULL,NULL,NULL,1,2);
INSERT INTO message VALUES(73,1,'in','bob@localhost',144,'','77aaef90-105b-4bff-a9cb-5d19429ebdba','17b3f3d0a9c24d13be24d0e7bfb57bdb',NULL,'bob@localhost/KvzrdKIV_ElA','alice@localhost','chat','m 60',1795372709000,1795372709419,NULL,NULL,NULL,1,2);
INSERT INTO message VALUES(74,1,'in','bob@localhost',145,'','d61e6520-b6a0-450b-9bba-7c846a8f9e06','fbeff6ee37b841698efbfa6897cc5bad',NULL,'bob@localhost/KvzrdKIV_ElA','alice@localhost','chat','m 61',1795372709000,1795372709421,NULL,NULL,NULL,1,2);
INSERT INTO message VALUES(75,1,'in','bob@localhost',146,'','65a3c711-43a4-4a76-8797-6d02c3d672bc','40c1acfb17b442768f08fd51f0716f9e',NULL,'bob@localhost/KvzrdKIV_ElA','alice@localhost','chat','m 62',1795372709000,1795372709421,NULL,NULL,NULL,1,2);
INSERT INTO message VALUES(76,1,'in','bob@localhost',147,'','0216ddb2-3c20-440b-93c1-cb235a13e19b','2201097034aa401e89bce9b393cf4e46',NULL,'bob@localhost/KvzrdKIV_ElA','alice@localhost','chat','m 63',1795372709000,1795372709421,NULL,NULL,NULL,1,2);
INSERT INTO message VALUES(77,1,'in','bob@localhost',148,'','d90bebe5-eaf7-4ee0-bc53-97c13b7afbac','6384e9e941e34a20a9b01381c890f809',NULL,'bob@localhost/KvzrdKIV_ElA','alice@localhost','chat','m 64',1795372709000,1795372709421,NULL,NULL,NULL,1,2);
CREATE TABLE request(
    account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
    id TEXT NOT NULL,               -- the stanza's id, random
    responder TEXT NOT NULL,        -- who was asked; '' is the account itself
    asked_at INTEGER NOT NULL,
    deadline INTEGER NOT NULL,
    sent INTEGER NOT NULL DEFAULT 0, -- when its bytes last left, so that an answer may be on the way; 0: not yet
    name TEXT NOT NULL,             -- the handler's
    handler BLOB NOT NULL,
    crashes INTEGER NOT NULL DEFAULT 0, -- processes that ended while they called it
    PRIMARY KEY (account, id)) WITHOUT ROWID;
CREATE TABLE timer(
    id INTEGER PRIMARY KEY AUTOINCREMENT, -- never given twice: who holds an old one must not cancel another
    account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
    at INTEGER NOT NULL,
    name TEXT NOT NULL,
    handler BLOB NOT NULL,
    crashes INTEGER NOT NULL DEFAULT 0);
CREATE TABLE promise(
    id INTEGER PRIMARY KEY AUTOINCREMENT, -- never given twice: who holds an old one must not get another's value
    account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
    until INTEGER NOT NULL,         -- when it is rejected, or, once it is settled, forgotten
    result BLOB);
CREATE TABLE waiter(
    id INTEGER PRIMARY KEY,
    account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
    promise INTEGER NOT NULL,
    next INTEGER,                   -- the promise that the handler is to settle
    name TEXT NOT NULL,
    handler BLOB NOT NULL,
    crashes INTEGER NOT NULL DEFAULT 0);
CREATE TABLE dead_letter(
    id INTEGER PRIMARY KEY,
    account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
    at INTEGER NOT NULL,
    origin TEXT NOT NULL,           -- what it waited for: 'request', 'timer', 'promise'; 'share': what was left
    name TEXT NOT NULL,             -- '' if not even that can be read
    reason TEXT NOT NULL,
    handler BLOB NOT NULL);
CREATE TABLE question(
    id INTEGER PRIMARY KEY,
    account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
    request TEXT NOT NULL,          -- the stanza's id
    recipient TEXT NOT NULL,
    asked_at INTEGER NOT NULL,
    answered_at INTEGER,
    outcome TEXT,                   -- 'result', 'error', 'timeout', 'invalidated'
    reason TEXT,
    answer BLOB,
    round_trip INTEGER);
CREATE TABLE archive_range(
    id INTEGER PRIMARY KEY,
    account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
    archive TEXT NOT NULL,          -- '' is the account's own, else a room's bare address
    first_id TEXT NOT NULL,         -- the archive's id of its first message
    first_position INTEGER NOT NULL,
    first_at INTEGER,               -- the archive's stamp of it
    before_id TEXT NOT NULL,        -- where reading what is before begins: its first message or the next one
    last_id TEXT NOT NULL,
    last_position INTEGER NOT NULL,
    last_at INTEGER,
    again_id TEXT NOT NULL,         -- where reading on begins: a few messages before its last
    bottom INTEGER NOT NULL);
INSERT INTO archive_range VALUES(1,1,'','e8bda823-eea1-4b25-bf5a-1a514a6579bb',2,1795372708000,'e8bda823-eea1-4b25-bf5a-1a514a6579bb','e756be0b-a7b2-480e-a816-a06457a430f1',156,1795372709000,'e8bda823-eea1-4b25-bf5a-1a514a6579bb',1);
CREATE TABLE catchup(
    account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
    archive TEXT NOT NULL,
    number INTEGER NOT NULL,        -- grows with each round
    phase TEXT NOT NULL,            -- 'before-presence', 'after-presence', 'done'
    trusted INTEGER NOT NULL DEFAULT 0, -- of a room: whether the stanza-ids that it stamps are trusted
    since INTEGER NOT NULL,         -- where to begin if nothing was read yet; 0: the archive had nothing before
    probed INTEGER NOT NULL DEFAULT 0, -- whether it was found out if there is something before
    range INTEGER,                  -- the range that is extended; NULL: a new one
    bottom INTEGER NOT NULL DEFAULT 0, -- of the new one
    query_id TEXT, request TEXT,    -- the open page
    cursor TEXT,                    -- it begins behind this message,
    start INTEGER,                  -- or at this time
    reached TEXT,                   -- the last message of the page before
    placed INTEGER NOT NULL DEFAULT 0, -- the order number of the last message shown
    changed_behind INTEGER,         -- the order number behind which something was found that was not there
    seen INTEGER NOT NULL DEFAULT 0, -- how many messages the round has shown,
    shown INTEGER NOT NULL DEFAULT 0, -- and the page
    first_id TEXT, first_position INTEGER, first_at INTEGER, -- the first one of the round
    last_id TEXT, last_at INTEGER,  -- the last one shown
    previous_id TEXT,               -- the one before it that has another id
    again_id TEXT, again_next TEXT, -- two in the distance in which reading begins again
    again_at INTEGER,               -- the archive's stamp of the second,
    again_seen INTEGER NOT NULL DEFAULT 0, -- and how many messages the round had shown by then
    problem TEXT,
    PRIMARY KEY (account, archive)) WITHOUT ROWID;
INSERT INTO catchup VALUES(1,'',2,'done',0,0,1,1,0,NULL,NULL,'e756be0b-a7b2-480e-a816-a06457a430f1',1795372706000,'e756be0b-a7b2-480e-a816-a06457a430f1',156,17,78,28,'e8bda823-eea1-4b25-bf5a-1a514a6579bb',2,1795372708000,'e756be0b-a7b2-480e-a816-a06457a430f1',1795372709000,'6bd2b0eb-d1b6-498e-8abc-f113da59b222','e8bda823-eea1-4b25-bf5a-1a514a6579bb','e8bda823-eea1-4b25-bf5a-1a514a6579bb',1795372708000,1,NULL);
CREATE TABLE filling(
    account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
    archive TEXT NOT NULL,
    gaps INTEGER NOT NULL,          -- whether gaps between ranges are to be filled
    wanted INTEGER NOT NULL,        -- how many messages are wanted from before the first range
    stored INTEGER NOT NULL DEFAULT 0, -- how many it has brought
    range INTEGER,                  -- the range whose begin is moved back; NULL: a new one
    query_id TEXT, request TEXT,    -- the open page
    cursor TEXT,                    -- it ends before this message,
    stop INTEGER,                   -- or at this time
    base INTEGER NOT NULL DEFAULT 0, -- the order number of its first message
    shown INTEGER NOT NULL DEFAULT 0, -- how many messages it has shown
    placed INTEGER NOT NULL DEFAULT 0, -- and how many of them were in no range
    first_id TEXT, first_at INTEGER, second_id TEXT, last_id TEXT, last_at INTEGER,
    met INTEGER,                    -- the older range that it has met
    outcome TEXT,                   -- NULL: it goes on; '': done; else why it ended
    PRIMARY KEY (account, archive)) WITHOUT ROWID;
CREATE TABLE quarantine(
    id INTEGER PRIMARY KEY,
    account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
    at INTEGER NOT NULL,
    reason TEXT NOT NULL,
    name TEXT NOT NULL,
    sender TEXT,
    size INTEGER NOT NULL,          -- bytes on the wire
    stanza BLOB NOT NULL,           -- its first 64 KiB
    position INTEGER,               -- the order number kept for it
    retry TEXT, archive TEXT, archive_id TEXT, author TEXT NOT NULL DEFAULT '');
CREATE TABLE attempt(
    account INTEGER PRIMARY KEY REFERENCES account(id) ON DELETE CASCADE,
    session INTEGER NOT NULL,
    count INTEGER NOT NULL,
    attempts INTEGER NOT NULL);
INSERT INTO attempt VALUES(1,1,74,1);
CREATE TABLE notification(
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
    message INTEGER NOT NULL REFERENCES message(id) ON DELETE CASCADE,
    conversation TEXT NOT NULL,
    kind TEXT NOT NULL,             -- 'show', 'withdraw'
    -- Whether it was going to be shown: the user may have seen it, though it is not done.
    begun INTEGER NOT NULL DEFAULT 0,
    done INTEGER NOT NULL DEFAULT 0);
CREATE TABLE capability(
    id INTEGER PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE,      -- with its kind and algorithm
    info BLOB NOT NULL,             -- the <query/>
    used_at INTEGER NOT NULL);
CREATE TABLE entity(
    id INTEGER PRIMARY KEY,
    account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
    jid TEXT NOT NULL,
    hash TEXT NOT NULL,             -- '' if there is none
    node TEXT NOT NULL,             -- what to ask it about
    state INTEGER NOT NULL,         -- 0: to be asked; 1: asked; 2: known by its hash; 3: spoke for itself; 4: given up
    asked_at INTEGER NOT NULL DEFAULT 0,
    info BLOB);
INSERT INTO entity VALUES(1,1,'localhost','','',3,0,X'3c717565727920786d6c6e733d27687474703a2f2f6a61626265722e6f72672f70726f746f636f6c2f646973636f23696e666f273e3c6964656e746974792063617465676f72793d2773657276657227206e616d653d2750726f736f64792720747970653d27696d272f3e3c66656174757265207661723d2775726e3a786d70703a74696d65272f3e3c66656174757265207661723d276a61626265723a69713a74696d65272f3e3c66656174757265207661723d276a61626265723a69713a6c617374272f3e3c66656174757265207661723d276a61626265723a69713a76657273696f6e272f3e3c66656174757265207661723d276a61626265723a69713a726f73746572272f3e3c66656174757265207661723d276a61626265723a69713a70726976617465272f3e3c66656174757265207661723d2775726e3a786d70703a626c6f636b696e67272f3e3c66656174757265207661723d27687474703a2f2f6a61626265722e6f72672f70726f746f636f6c2f646973636f23696e666f272f3e3c66656174757265207661723d27687474703a2f2f6a61626265722e6f72672f70726f746f636f6c2f646973636f236974656d73272f3e3c66656174757265207661723d2775726e3a786d70703a70696e67272f3e3c66656174757265207661723d2775726e3a786d70703a636172626f6e733a72756c65733a30272f3e3c66656174757265207661723d2775726e3a786d70703a636172626f6e733a32272f3e3c66656174757265207661723d2776636172642d74656d70272f3e3c7820786d6c6e733d276a61626265723a783a646174612720747970653d27726573756c74273e3c6669656c6420747970653d2768696464656e27207661723d27464f524d5f54595045273e3c76616c75653e687474703a2f2f6a61626265722e6f72672f6e6574776f726b2f736572766572696e666f3c2f76616c75653e3c2f6669656c643e3c6669656c6420747970653d276c6973742d6d756c746927207661723d2761627573652d616464726573736573272f3e3c6669656c6420747970653d276c6973742d6d756c746927207661723d2761646d696e2d616464726573736573272f3e3c6669656c6420747970653d276c6973742d6d756c746927207661723d27666565646261636b2d616464726573736573272f3e3c6669656c6420747970653d276c6973742d6d756c746927207661723d2773616c65732d616464726573736573272f3e3c6669656c6420747970653d276c6973742d6d756c746927207661723d2773656375726974792d616464726573736573272f3e3c6669656c6420747970653d276c6973742d6d756c746927207661723d277374617475732d616464726573736573272f3e3c6669656c6420747970653d276c6973742d6d756c746927207661723d27737570706f72742d616464726573736573272f3e3c2f783e3c2f71756572793e');
CREATE TABLE shared(id INTEGER PRIMARY KEY CHECK (id = 1), mailbox TEXT NOT NULL, last INTEGER NOT NULL);
INSERT INTO shared VALUES(1,'2447fd6976aa7c926cada8d891adb232',13);
CREATE TABLE slow_step(kind TEXT PRIMARY KEY, count INTEGER NOT NULL, longest INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE barrier(id INTEGER PRIMARY KEY CHECK (id = 1), number INTEGER NOT NULL);
INSERT INTO barrier VALUES(1,29);
CREATE TABLE archive_preference(
    account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
    conversation TEXT NOT NULL,
    keeps INTEGER NOT NULL,
    PRIMARY KEY (account, conversation)) WITHOUT ROWID;
CREATE TABLE archive_shown(
    account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
    own INTEGER NOT NULL,           -- whether it was accepted here
    message INTEGER NOT NULL,
    PRIMARY KEY (account, own, message)) WITHOUT ROWID;
CREATE TABLE subscriber(
    account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
    jid TEXT NOT NULL,
    PRIMARY KEY (account, jid)) WITHOUT ROWID;
CREATE TABLE asker(
    id INTEGER PRIMARY KEY,
    account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
    stanza BLOB NOT NULL);
CREATE TABLE event(
    -- Never given twice: readers know what they have by the last one. The row with the highest one is never deleted,
    -- which costs a page less in each commit than AUTOINCREMENT.
    number INTEGER PRIMARY KEY,
    account INTEGER REFERENCES account(id) ON DELETE SET NULL, -- NULL: there is nothing to tell, or no longer
    at INTEGER NOT NULL,
    kind TEXT NOT NULL,             -- 'message', 'unsettled', or the state that the message came to
    message INTEGER NOT NULL);
INSERT INTO event VALUES(1,1,1795372708425,'queued',1);
INSERT INTO event VALUES(2,1,1795372708426,'sent',1);
INSERT INTO event VALUES(3,1,1795372708430,'message',2);
INSERT INTO event VALUES(4,1,1795372708430,'message',3);
INSERT INTO event VALUES(5,1,1795372708430,'message',4);
INSERT INTO event VALUES(6,1,1795372708430,'message',5);
INSERT INTO event VALUES(7,1,1795372708430,'message',6);
INSERT INTO event VALUES(8,1,1795372708430,'message',7);
INSERT INTO event VALUES(9,1,1795372708430,'message',8);
INSERT INTO event VALUES(10,1,1795372708430,'message',9);
INSERT INTO event VALUES(11,1,1795372708455,'message',10);
INSERT INTO event VALUES(12,1,1795372708455,'message',11);
INSERT INTO event VALUES(13,1,1795372708455,'message',12);
INSERT INTO event VALUES(14,1,1795372708455,'acked',1);
INSERT INTO event VALUES(15,1,1795372708457,'message',13);
INSERT INTO event VALUES(16,1,1795372708467,'message',14);
INSERT INTO event VALUES(17,1,1795372708470,'queued',15);
INSERT INTO event VALUES(18,1,1795372708473,'sent',15);
INSERT INTO event VALUES(19,1,1795372708498,'message',16);
INSERT INTO event VALUES(20,1,1795372708498,'acked',15);
INSERT INTO event VALUES(21,1,1795372708514,'message',17);
INSERT INTO event VALUES(22,1,1795372708517,'queued',18);
INSERT INTO event VALUES(23,1,1795372708518,'sent',18);
INSERT INTO event VALUES(24,1,1795372708546,'message',19);
INSERT INTO event VALUES(25,1,1795372708546,'acked',18);
INSERT INTO event VALUES(26,1,1795372708546,'message',20);
INSERT INTO event VALUES(27,1,1795372708561,'queued',21);
INSERT INTO event VALUES(28,1,1795372708561,'sent',21);
INSERT INTO event VALUES(29,1,1795372708587,'message',22);
INSERT INTO event VALUES(30,1,1795372708587,'acked',21);
INSERT INTO event VALUES(31,1,1795372708603,'message',23);
INSERT INTO event VALUES(32,1,1795372708603,'message',24);
INSERT INTO event VALUES(33,1,1795372708614,'queued',25);
INSERT INTO event VALUES(34,1,1795372708614,'sent',25);
INSERT INTO event VALUES(10034,NULL,1795372708660,'message',0);
INSERT INTO event VALUES(10035,1,1795372708697,'queued',26);
INSERT INTO event VALUES(10036,1,1795372708777,'queued',27);
INSERT INTO event VALUES(10037,1,1795372708890,'queued',28);
INSERT INTO event VALUES(10038,1,1795372708939,'queued',29);
INSERT INTO event VALUES(10039,1,1795372708984,'queued',30);
INSERT INTO event VALUES(10040,1,1795372709058,'queued',31);
INSERT INTO event VALUES(10041,1,1795372709093,'queued',32);
INSERT INTO event VALUES(20041,NULL,1795372709145,'message',0);
INSERT INTO event VALUES(20042,1,1795372709192,'queued',33);
INSERT INTO event VALUES(30042,NULL,1795372709223,'message',0);
INSERT INTO event VALUES(40042,NULL,1795372709359,'message',0);
INSERT INTO event VALUES(40043,1,1795372709404,'acked',25);
INSERT INTO event VALUES(40044,1,1795372709407,'message',34);
INSERT INTO event VALUES(40045,1,1795372709408,'message',35);
INSERT INTO event VALUES(40046,1,1795372709408,'message',36);
INSERT INTO event VALUES(40047,1,1795372709409,'message',37);
INSERT INTO event VALUES(40048,1,1795372709409,'message',38);
INSERT INTO event VALUES(40049,1,1795372709409,'message',39);
INSERT INTO event VALUES(40050,1,1795372709409,'message',40);
INSERT INTO event VALUES(40051,1,1795372709409,'message',41);
INSERT INTO event VALUES(40052,1,1795372709409,'message',42);
INSERT INTO event VALUES(40053,1,1795372709409,'message',43);
INSERT INTO event VALUES(40054,1,1795372709409,'message',44);
INSERT INTO event VALUES(40055,1,1795372709409,'message',45);
INSERT INTO event VALUES(40056,1,1795372709410,'message',46);
INSERT INTO event VALUES(40057,1,1795372709411,'message',47);
INSERT INTO event VALUES(40058,1,1795372709411,'message',48);
INSERT INTO event VALUES(40059,1,1795372709411,'message',49);
INSERT INTO event VALUES(40060,1,1795372709411,'message',50);
INSERT INTO event VALUES(40061,1,1795372709411,'message',51);
INSERT INTO event VALUES(40062,1,1795372709411,'message',52);
INSERT INTO event VALUES(40063,1,1795372709411,'message',53);
INSERT INTO event VALUES(40064,1,1795372709411,'message',54);
INSERT INTO event VALUES(40065,1,1795372709411,'message',55);
INSERT INTO event VALUES(40066,1,1795372709411,'message',56);
INSERT INTO event VALUES(40067,1,1795372709413,'message',57);
INSERT INTO event VALUES(40068,1,1795372709413,'sent',26);
INSERT INTO event VALUES(40069,1,1795372709413,'sent',27);
INSERT INTO event VALUES(40070,1,1795372709413,'sent',28);
INSERT INTO event VALUES(40071,1,1795372709413,'sent',29);
INSERT INTO event VALUES(40072,1,1795372709413,'sent',30);
INSERT INTO event VALUES(40073,1,1795372709413,'sent',31);
INSERT INTO event VALUES(40074,1,1795372709413,'sent',32);
INSERT INTO event VALUES(40075,1,1795372709413,'sent',33);
INSERT INTO event VALUES(40076,1,1795372709417,'message',58);
INSERT INTO event VALUES(40077,1,1795372709417,'message',59);
INSERT INTO event VALUES(40078,1,1795372709417,'message',60);
INSERT INTO event VALUES(40079,1,1795372709417,'message',61);
INSERT INTO event VALUES(40080,1,1795372709417,'message',62);
INSERT INTO event VALUES(40081,1,1795372709418,'message',63);
INSERT INTO event VALUES(40082,1,1795372709418,'message',64);
INSERT INTO event VALUES(40083,1,1795372709418,'message',65);
INSERT INTO event VALUES(40084,1,1795372709419,'message',66);
INSERT INTO event VALUES(40085,1,1795372709419,'message',67);
INSERT INTO event VALUES(40086,1,1795372709419,'message',68);
INSERT INTO event VALUES(40087,1,1795372709419,'message',69);
INSERT INTO event VALUES(40088,1,1795372709419,'message',70);
INSERT INTO event VALUES(40089,1,1795372709419,'message',71);
INSERT INTO event VALUES(40090,1,1795372709419,'message',72);
INSERT INTO event VALUES(40091,1,1795372709419,'message',73);
INSERT INTO event VALUES(40092,1,1795372709421,'message',74);
INSERT INTO event VALUES(40093,1,1795372709421,'message',75);
INSERT INTO event VALUES(40094,1,1795372709421,'message',76);
INSERT INTO event VALUES(40095,1,1795372709421,'message',77);
INSERT INTO event VALUES(40096,1,1795372709585,'acked',26);
INSERT INTO event VALUES(40097,1,1795372709585,'acked',27);
INSERT INTO event VALUES(40098,1,1795372709585,'acked',28);
INSERT INTO event VALUES(40099,1,1795372709585,'acked',29);
INSERT INTO event VALUES(40100,1,1795372709585,'acked',30);
INSERT INTO event VALUES(40101,1,1795372709585,'acked',31);
INSERT INTO event VALUES(40102,1,1795372709585,'acked',32);
INSERT INTO event VALUES(40103,1,1795372709585,'acked',33);
CREATE TABLE event_forgotten(id INTEGER PRIMARY KEY CHECK (id = 1), number INTEGER NOT NULL);
INSERT INTO event_forgotten VALUES(1,0);
CREATE TABLE clock(
    id INTEGER PRIMARY KEY CHECK (id = 1),
    boot TEXT NOT NULL,             -- which start of the machine
    base INTEGER NOT NULL,
    last INTEGER NOT NULL);
INSERT INTO clock VALUES(1,'3deaf31f-815e-4838-8501-ba4daec87713',1795354073282,1795372707731);
CREATE TABLE server_time(
    account INTEGER PRIMARY KEY REFERENCES account(id) ON DELETE CASCADE,
    ahead INTEGER,                  -- milliseconds by which the server's time is at least ahead of the steady time
    base INTEGER NOT NULL,          -- of the steady time when that was found out; before, when the account came
    since INTEGER);
INSERT INTO server_time VALUES(1,-380,1795354073282,1795372707351);
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence VALUES('queue',24);
CREATE INDEX queue_order ON queue(account, id);
CREATE INDEX message_order ON message(account, conversation, position);
CREATE UNIQUE INDEX message_unarchived ON message(account, sender, origin_id)
    WHERE stanza_id IS NULL AND origin_id IS NOT NULL AND direction = 'in';
CREATE UNIQUE INDEX message_own ON message(account, origin_id)
    WHERE direction = 'out' AND origin_id IS NOT NULL AND received_at IS NULL;
CREATE INDEX message_unstamped ON message(account, sender, origin_id)
    WHERE stanza_id IS NULL AND direction = 'out' AND received_at IS NOT NULL;
CREATE INDEX request_deadline ON request(account, deadline);
CREATE INDEX request_name ON request(account, name);
CREATE INDEX timer_order ON timer(account, at);
CREATE INDEX promise_pending ON promise(account, until) WHERE result IS NULL;
CREATE INDEX promise_settled ON promise(account, until) WHERE result IS NOT NULL;
CREATE INDEX waiter_promise ON waiter(account, promise);
CREATE INDEX archive_range_order ON archive_range(account, archive, last_position);
CREATE INDEX quarantine_retry ON quarantine(account, id) WHERE retry = 'wanted';
CREATE INDEX notification_pending ON notification(id) WHERE done = 0;
CREATE INDEX notification_message ON notification(message);
CREATE INDEX notification_conversation ON notification(account, conversation);
CREATE INDEX capability_use ON capability(used_at);
CREATE UNIQUE INDEX entity_jid ON entity(account, jid);
CREATE INDEX entity_hash ON entity(hash, account);
CREATE INDEX entity_open ON entity(account, state) WHERE state < 2;
CREATE INDEX entity_own_word ON entity(account, id) WHERE info IS NOT NULL;
CREATE INDEX asker_account ON asker(account);
CREATE UNIQUE INDEX message_archived ON message(stanza_id, account, archive, sender, message_id)
    WHERE stanza_id IS NOT NULL;
CREATE INDEX message_unfinished ON message(account, state, settled) WHERE state IN ('queued', 'sent', 'failed');
CREATE INDEX message_written ON message(account, conversation) WHERE direction = 'out';
CREATE INDEX queue_request ON queue(account, request) WHERE request IS NOT NULL;
CREATE UNIQUE INDEX quarantine_archived ON quarantine(account, archive, archive_id, author)
    WHERE archive_id IS NOT NULL;
CREATE INDEX quarantine_size ON quarantine(account, size);
CREATE INDEX quarantine_author ON quarantine(account, author);
COMMIT;
