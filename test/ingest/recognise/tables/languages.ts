/** What tables in a language hold. Six values each; the texts are of different length, as people write them. */
interface Language {
  /** Names of the columns: text, name, address, subject. */
  readonly columns: readonly [text: string, name: string, address: string, subject: string];
  readonly texts: readonly string[];
  readonly names: readonly string[];
  readonly addresses: readonly string[];
  readonly subjects: readonly string[];
  /** Labels of one to four words, which repeat. */
  readonly labels: readonly string[];
}

/** A table per language: text, name, address and subject, and in some rows a label. */
const TABLES = `
# German
Nachricht | Kunde | Anschrift | Betreff
Ich warte seit drei Wochen auf meine Bestellung. | Anna Schmidt | Hauptstraße 5, 10115 Berlin | Frage zu meiner letzten Bestellung | offen
danke, hat alles gut geklappt | Jan van der Berg | Am Markt 12, 50667 Köln | Rückgabe | in Bearbeitung
Geht so. | Dr. Peter Maier | Ringweg 3a, 80331 München | Problem mit der Lieferung | erledigt
Wann bekomme ich endlich mein Geld zurück? Ich habe schon zweimal geschrieben. | Lena Vogt | Seestr. 9, 20095 Hamburg | Lob für den netten Fahrer
ok | Uwe Roth | Bahnhofplatz 1, 04109 Leipzig | Rechnung fehlt noch immer
Der Fahrer war sehr freundlich und pünktlich | Karl Otto Lang | Talweg 77, 70173 Stuttgart | Adresse hat sich geändert

# Spanish
comentario | usuario | dirección | asunto
El pedido llegó roto y nadie contesta el teléfono. | Juan Pérez | Calle de Alcalá 45, 28014 Madrid | Queja sobre el último pedido | abierto
todo perfecto, muchas gracias | María de la Cruz | Gran Vía 2, Bilbao | Devolución | en curso
No me gusta nada. | José Luis Gómez | Av. Diagonal 300, Barcelona | Cambio de dirección de envío | cerrado
¿Cuándo me van a devolver el dinero? | Ana Ruiz | Plaza Mayor 7, Salamanca | Gracias por la ayuda de ayer
vale | Pablo Sáez | Paseo del Prado 8, Madrid | Duda con la factura
La comida estaba fría pero el camarero era muy amable | Lucía Vega Soto | Rambla Nova 15, Tarragona | Mi cuenta no funciona bien

# French
avis | auteur | adresse | objet
Le produit ne marche plus depuis une semaine, c'est honteux. | Jean Dupont | 12 rue de la Paix, 75002 Paris | Demande de remboursement rapide | ouvert
très content de mon achat | Marie de la Tour | 3 place Bellecour, 69002 Lyon | Colis perdu | en cours
Bof. | Luc Petit | 45 cours Mirabeau, 13100 Aix | Question sur ma dernière facture | fermé
Pourquoi personne ne me répond au téléphone ? | Chloé Roux | 8 quai Nord, 44000 Nantes | Merci pour votre aide précieuse
merci | Hugo Noir | 1 bd Victor Hugo, 06000 Nice | Mot de passe oublié
La livraison a été rapide mais le carton était abîmé | Anne Le Goff | 27 rue du Lac, 74000 Annecy | Je veux résilier mon contrat

# Portuguese
mensagem | cliente | endereço | assunto
O aplicativo fecha sozinho toda vez que tento pagar. | João da Silva | Avenida Paulista 1000, São Paulo | Erro ao pagar com cartão | aberto
adorei, chegou antes do prazo | Ana dos Santos | Rua Augusta 55, Lisboa | Troca | em andamento
Péssimo! | Rui Costa | Rua do Ouro 9, Porto | Pedido chegou com defeito | fechado
Alguém pode me ajudar com a senha? | Maria Souza Lima | Praça da Sé 1, São Paulo | Elogio para toda a equipe
obrigado | Caio Reis | Rua XV 200, Curitiba | Não consigo entrar na conta
O atendente foi grosso comigo e desligou | Bia Melo | Av. Brasil 77, Rio | Dúvida sobre o prazo

# Italian
recensione | nome | indirizzo | oggetto
Camera sporca e personale scortese, mai più. | Mario Rossi | Via Roma 10, 00184 Roma | Reclamo per la camera sporca | aperto
tutto bello, ci torneremo volentieri | Luca De Santis | Corso Como 3, Milano | Rimborso | in corso
Insomma. | Giulia Conti | Piazza Dante 1, Napoli | Domanda sulla prenotazione di maggio | chiuso
Ma perché nessuno risponde alle mail? | Ada Neri | Via Po 12, Torino | Complimenti a tutto lo staff
grazie | Ugo Foscolo | Viale Monza 90, Milano | Errore nel conto finale
La pizza era buona ma il conto troppo salato | Pia de Tolomei | Via Etnea 5, Catania | Vorrei cambiare la data

# Dutch
bericht | klant | adres | onderwerp
Mijn pakket is nog steeds niet aangekomen. | Jan de Vries | Damrak 1, 1012 LG Amsterdam | Vraag over mijn laatste bestelling | open
prima geholpen, bedankt hoor | Els van den Berg | Coolsingel 40, Rotterdam | Retour | in behandeling
Matig. | Piet Smit | Markt 5, Delft | Pakket is niet bezorgd | gesloten
Waarom moet ik zo lang wachten op antwoord? | Anouk Bos | Neude 11, Utrecht | Compliment voor de bezorger van gisteren
oké | Daan Mulder | Grote Markt 3, Groningen | Fout op de factuur
De kleur is heel anders dan op de foto | Fleur ter Horst | Vrijthof 20, Maastricht | Ik wil mijn adres wijzigen

# Polish
treść | klient | adres | temat
Paczka przyszła uszkodzona i nikt nie odbiera telefonu. | Jan Kowalski | ul. Marszałkowska 12/3, Warszawa | Reklamacja dotycząca ostatniego zamówienia | otwarte
wszystko w porządku, dziękuję bardzo | Anna Nowak | ul. Długa 5, Gdańsk | Zwrot | w toku
Słabo. | Ewa Zielińska | al. Jana Pawła 7, Kraków | Pytanie o termin dostawy paczki | zamknięte
Kiedy dostanę zwrot pieniędzy? | Piotr Lis | Rynek 1, Wrocław | Podziękowania dla całego zespołu
spoko | Olga Wójcik | ul. Polna 22, Poznań | Nie działa moje konto
Obsługa była miła ale czekałem ponad godzinę | Adam Król | ul. Leśna 4, Łódź | Proszę o fakturę za marzec

# Swedish
meddelande | kund | gatuadress | ämne
Jag har väntat i två veckor på mitt paket. | Erik Lund | Storgatan 5, Malmö | Fråga om min senaste beställning | öppen
allt funkade bra, tack | Anna af Ekenstam | Kungsgatan 12, 111 35 Stockholm | Retur | under arbete
Sådär. | Lars Berg | Torget 1, Lund | Paketet har inte kommit fram | stängd
Varför svarar ingen när jag ringer? | Maja Ek | Nygatan 8, Örebro | Beröm till er trevliga personal
okej | Nils Holm | Hamngatan 3, Kalmar | Fel på fakturan
Personalen var trevlig men maten var kall | Sara Blom | Drottninggatan 40, Uppsala | Jag vill ändra min adress

# Turkish
mesaj | müşteri | adres | konu
Siparişim hâlâ gelmedi ve kimse cevap vermiyor. | Ahmet Yılmaz | Atatürk Cad. 12, İstanbul | Siparişim ile ilgili bir soru | açık
her şey çok güzeldi, teşekkürler | Ayşe Demir | Bağdat Cad. 300, Kadıköy | İade | işlemde
Fena değil. | Mehmet Can Kaya | Kızılay Sok. 4, Ankara | Paket hasarlı olarak geldi bana | kapalı
Param ne zaman iade edilecek? | Elif Ak | Alsancak Mah. 7, İzmir | Ekibinize çok teşekkür ederim
tamam | Deniz Tan | Lale Sok. 9, Bursa | Faturada hata var galiba
Kargo görevlisi çok kaba davrandı bana | Can Er | Çınar Cad. 1, Antalya | Hesabıma bir türlü giremiyorum

# Vietnamese
bình luận | khách hàng | địa chỉ | chủ đề
Hàng giao chậm quá, gọi mãi không ai nghe máy. | Nguyễn Văn An | 12 Lê Lợi, Quận 1, TP HCM | Hỏi về đơn hàng gần đây | mở
rất hài lòng với sản phẩm này | Trần Thị Bích | 5 Hàng Bài, Hà Nội | Đổi trả | đang xử lý
Tạm được. | Lê Minh Khai | 88 Trần Phú, Đà Nẵng | Hàng bị lỗi khi nhận | đóng
Bao giờ tôi mới nhận được tiền? | Phạm Hoàng | 3 Nguyễn Huệ, Huế | Cảm ơn các bạn rất nhiều
ok | Vũ Đức | 27 Hùng Vương, Cần Thơ | Không đăng nhập được tài khoản
Nhân viên dễ thương nhưng đồ ăn hơi nguội | Đỗ Thị Lan | 9 Bà Triệu, Hà Nội | Sai thông tin trên hóa đơn

# Indonesian
pesan | pelanggan | alamat | perihal
Barang belum sampai juga padahal sudah dua minggu. | Budi Santoso | Jl. Sudirman No. 10, Jakarta | Pertanyaan tentang pesanan terakhir saya | baru
mantap, pelayanan cepat sekali | Siti Aminah | Jl. Braga 5, Bandung | Retur | sedang diproses
Biasa saja. | Agus Salim | Jl. Malioboro 77, Yogyakarta | Paket rusak saat saya terima | selesai
Kapan uang saya dikembalikan? | Dewi Lestari | Jl. Diponegoro 3, Surabaya | Terima kasih atas bantuannya kemarin
oke | Rizky Putra | Jl. Gajah Mada 21, Medan | Akun saya tidak bisa dibuka
Kurirnya tidak sopan dan paketnya dilempar | Wayan Sudi | Jl. Legian 8, Kuta | Tagihan bulan ini salah

# Russian
сообщение | клиент | адрес | тема
Посылка пришла вскрытой, деньги не возвращают. | Иван Петров | ул. Ленина, д. 5, Москва | Вопрос по моему последнему заказу | открыт
все отлично, спасибо большое | Анна Каренина | Невский пр., 28, Санкт-Петербург | Возврат | в работе
Так себе. | Олег Сидоров | пр. Мира, 10, Казань | Посылка пришла с браком | закрыт
Почему никто не отвечает на мои письма? | Мария Ким | ул. Садовая, 3, Самара | Благодарность вашему курьеру за помощь
ладно | Пётр Ильич Котов | ул. Лесная, 14, Тула | Не могу войти в кабинет
Курьер опоздал на три часа и нагрубил | Юлия Лис | ул. Новая, 1, Омск | Ошибка в счёте за март

# Greek
σχόλιο | πελάτης | διεύθυνση | θέμα
Περιμένω την παραγγελία μου εδώ και έναν μήνα. | Γιώργος Παππάς | Ερμού 5, Αθήνα | Ερώτηση για την τελευταία παραγγελία | ανοιχτό
όλα τέλεια, ευχαριστώ πολύ | Μαρία Νίκου | Τσιμισκή 40, Θεσσαλονίκη | Επιστροφή | σε εξέλιξη
Μέτριο. | Άννα Λάμπρου | Σταδίου 12, Αθήνα | Το πακέτο ήρθε σπασμένο | κλειστό
Γιατί δεν απαντάει κανείς στο τηλέφωνο; | Νίκος Γκίκας | Κορίνθου 9, Πάτρα | Ευχαριστίες προς όλη την ομάδα
εντάξει | Ελένη Ρήγα | Πλατεία 1, Χανιά | Δεν ανοίγει ο λογαριασμός μου
Ο υπάλληλος ήταν αγενής και μου έκλεισε το τηλέφωνο | Κώστας Ζώης | Ακτή Μιαούλη 3, Πειραιάς | Λάθος ποσό στον λογαριασμό

# Arabic
الرسالة | العميل | العنوان | الموضوع
لم يصل الطلب حتى الآن ولا أحد يرد على الهاتف. | محمد علي | شارع الملك فهد 12، الرياض | سؤال عن الطلب الأخير الذي أرسلته | مفتوح
كل شيء كان ممتازا وشكرا جزيلا لكم | فاطمة الزهراء | شارع التحرير 5، القاهرة | استرجاع | قيد المعالجة
عادي. | أحمد بن خالد | طريق الشيخ زايد 100، دبي | وصل الطرد مكسورا، ماذا أفعل؟ | مغلق
متى سأسترجع أموالي؟ | ليلى حسن | شارع الحمرا 8، بيروت | شكرا لكم على المساعدة أمس
تمام | عمر فاروق | شارع النيل 3، الخرطوم | لا أستطيع الدخول إلى حسابي الآن
السائق كان مهذبا لكن الطعام وصل باردا | سارة نور | شارع محمد الخامس 20، الرباط | خطأ في الفاتورة.

# Hebrew
הודעה | לקוח | כתובת | נושא
החבילה לא הגיעה כבר שבועיים ואף אחד לא עונה. | דוד כהן | דיזנגוף 50, תל אביב | שאלה על ההזמנה האחרונה שלי מאתמול | פתוח
הכול היה מצוין ותודה רבה לכולם | שרה לוי | יפו 12, ירושלים | החזרה | בטיפול
ככה ככה. | יעל מזרחי | הרצל 3, חיפה | החבילה הגיעה שבורה, מה עושים? | סגור
מתי אקבל את הכסף שלי בחזרה? | נועם בר | ביאליק 8, רמת גן | תודה רבה לכם על כל העזרה
בסדר | רחל אשר | העצמאות 21, אשדוד | אני לא מצליח להיכנס לחשבון שלי
השליח היה נחמד אבל האוכל הגיע קר | אורי גל | רגר 7, באר שבע | טעות בחשבונית.

# Hindi
संदेश | ग्राहक | पता | विषय
मेरा सामान अभी तक नहीं आया और कोई फोन नहीं उठाता। | राम कुमार | एमजी रोड 12, मुंबई | मेरे पिछले ऑर्डर के बारे में सवाल | खुला
सब कुछ बहुत अच्छा था धन्यवाद | सीता देवी | गांधी मार्ग 5, दिल्ली | वापसी | जारी
ठीक है। | अमित शर्मा | स्टेशन रोड 8, पटना | सामान टूटा हुआ आया, क्या करूँ? | बंद
मेरे पैसे कब वापस मिलेंगे? | पूजा सिंह | लाल बाग 3, इंदौर | आपकी मदद के लिए बहुत धन्यवाद
हाँ | रवि वर्मा | सदर बाजार 20, आगरा | मेरा खाता नहीं खुल रहा है
खाना ठंडा था लेकिन सेवा अच्छी थी | नेहा गुप्ता | झील मार्ग 1, भोपाल | बिल में गलती है।

# Chinese
内容 | 用户 | 地址 | 主题
等了三个星期还没收到货，客服也不回复。 | 王小明 | 北京市朝阳区建国路88号 | 关于我上次订单的问题 | 待处理
非常满意下次还会再来买 | 李娜 | 上海市南京东路100号 | 退货 | 处理中
一般般。 | 欧阳修文 | 广州市天河路5号 | 收到的包裹已经破损了 | 已关闭
什么时候才能退款？ | 陈伟 | 深圳市科技园南区3号 | 感谢你们昨天的热情帮助
好 | 赵敏 | 成都市春熙路9号 | 账号登录不上怎么办？
快递员态度很差把包裹扔在门口就走了 | 孙悟空 | 杭州市西湖区文三路27号 | 发票金额写错了请改正

# Japanese
コメント | 氏名 | 住所 | 件名
注文した商品がまだ届きません。いつになりますか。 | 田中 太郎 | 東京都港区六本木1-2-3 | 先日の注文についての質問です | 未対応
とても良かったのでまた買います | 佐々木 健太郎 | 大阪市北区梅田4-5 | 返品 | 対応中
微妙。 | 鈴木花子 | 京都市中京区8-1 | 届いた荷物が壊れていました | 完了
返金はいつされるのでしょうか？ | 山本 一 | 札幌市中央区北1-3 | 昨日の対応に感謝しています
はい | 高橋 美咲 | 福岡市博多区2-7-9 | ログインができなくて困っています
店員さんは親切でしたが料理が冷めていました | 伊藤 翔 | 名古屋市栄3-5-12 | 請求書の金額が間違っています

# Korean
내용 | 이름 | 주소 | 제목
주문한 물건이 아직도 안 왔어요. 언제 오나요? | 김철수 | 서울특별시 강남구 테헤란로 123 | 지난번 주문에 대해 질문이 있습니다 | 접수
정말 마음에 들어요 다음에 또 살게요 | 이영희 | 부산시 해운대구 센텀로 5 | 반품 | 처리 중
그저 그래요. | 박지성 | 대구시 중구 동성로 77 | 상품이 깨져서 왔는데 어떻게 하나요? | 완료
환불은 언제 되나요? | 최민수 | 인천시 남동구 예술로 8 | 어제 도와주셔서 정말 감사합니다.
네 | 정다은 | 광주시 서구 상무로 31 | 계정에 로그인이 안 됩니다.
직원은 친절했지만 음식이 다 식어 있었습니다 | 남궁민 | 대전시 유성구 대학로 99 | 영수증 금액이 잘못됐어요.

# Thai
ข้อความ | ชื่อ | ที่อยู่ | หัวข้อ
สั่งของไปสามอาทิตย์แล้วยังไม่ได้รับเลย โทรไปก็ไม่มีใครรับสาย | สมชาย ใจดี | ถนนสุขุมวิท 21 กรุงเทพ 10110 | สอบถามเรื่องคำสั่งซื้อครั้งล่าสุดของฉัน | เปิด
ของดีมากส่งไวประทับใจสุดๆ จะสั่งอีกแน่นอน | สมหญิง รักไทย | ถนนนิมมาน 5 เชียงใหม่ 50200 | คืนของ | กำลังทำ
เฉยๆ | มานะ ชูใจ | ถนนบีช 9 พัทยา 20150 | ได้รับพัสดุที่แตกเสียหายมาต้องทำยังไง | ปิด
เมื่อไหร่จะได้เงินคืนสักทีคะ รอมานานมากแล้ว | วิชัย สุข | ซอยอารีย์ 4 กรุงเทพ 10400 | ขอบคุณสำหรับความช่วยเหลือเมื่อวานนี้มากๆ
โอเค | นิดา แก้ว | ถนนกลาง 12 ภูเก็ต 83000 | เข้าสู่ระบบบัญชีของตัวเองไม่ได้เลยค่ะ
พนักงานพูดจาไม่ดีเลยแถมอาหารก็เย็นชืด | ปิติ ยินดี | ถนนมิตรภาพ 88 ขอนแก่น 40000 | ยอดเงินในใบเสร็จไม่ถูกต้องช่วยแก้ด้วย
`;

function parseTable(table: string): [name: string, language: Language] {
  const [name, columns, ...rows] = table.trim().split('\n');
  const cells = rows.map((row) => row.split(' | '));
  const column = (at: number): string[] => cells.flatMap((row) => row[at] ?? []);
  return [
    name!,
    {
      columns: columns!.split(' | ') as [string, string, string, string],
      texts: column(0),
      names: column(1),
      addresses: column(2),
      subjects: column(3),
      labels: column(4),
    },
  ];
}

export const LANGUAGES: Readonly<Record<string, Language>> = Object.fromEntries(
  TABLES.split('# ').slice(1).map(parseTable),
);
